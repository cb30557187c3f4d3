// pickle.cpp -- the operations of a pickle.  Each is a byte and its operands; the objects that they
// make lie on a stack, and some are remembered by number (the memo) to be had again.
//
// https://github.com/python/cpython/blob/main/Lib/pickletools.py has them all.
#include "croze/io/pytorch/pickle.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "croze/base/error.h"
#include "croze/io/pytorch/globals.h"

namespace croze::pytorch {
namespace {

using Object = PickledObject;
using Kind = Object::Kind;

// Old protocols write bytes as a text of the characters U+0000 to U+00FF.
std::optional<std::string> latin1_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i++) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first >= 0x80) {
      const bool has_second = i + 1 < text.size() && (text[i + 1] & 0xc0) == 0x80;
      if ((first != 0xc2 && first != 0xc3) || !has_second) return std::nullopt;
      i++;
      bytes += static_cast<char>((first & 0x03) << 6 | (text[i] & 0x3f));
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

class Machine {
 public:
  Machine(ByteReader& reader, const std::string& path) : reader_(reader), path_(path) {}

  Pickle run();

 private:
  static constexpr int mark = -1;  // on the stack
  // What is copied is short, however often a pickle asks for it.
  static constexpr std::size_t max_name = 200, max_arguments = 16;

  void step(std::uint8_t operation);
  bool push_constant(std::uint8_t operation);
  bool push_number(std::uint8_t operation);
  bool push_text(std::uint8_t operation);
  bool build_container(std::uint8_t operation);
  bool use_memo(std::uint8_t operation);
  void arrange_stack(std::uint8_t operation);

  // ---- what is read
  std::string_view line();
  std::int64_t decimal();
  void push_long(std::int64_t bytes);
  void push_bytes(Kind kind, std::int64_t bytes) {
    push({.kind = kind, .text = std::string(reader_.text(bytes))});
  }
  std::int64_t wide_length();

  // ---- the stack
  void push(Object object) {
    stack_.push_back(static_cast<int>(result_.objects.size()));
    result_.objects.push_back(std::move(object));
  }
  int pop();
  int top() const;
  std::vector<int> pop_to_mark();
  std::vector<int> pop_several(int count);
  Object& object(int number) { return result_.objects[static_cast<std::size_t>(number)]; }
  Object& container(Kind kind);
  void append(Kind kind, const std::vector<int>& parts);
  void remember(std::int64_t number);
  void recall(std::int64_t number);

  // ---- what is made of globals
  void push_global(const std::string& name);
  void push_persistent(int id);
  void call();
  void call_tensor(const Global& global, const std::vector<int>& arguments);
  void build();
  const std::string& text_at(const std::vector<int>& list, std::size_t i);

  template <typename... Args>
  void require(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) reader_.fail_here(fmt::format(format, std::forward<Args>(args)...));
  }

  ByteReader& reader_;
  const std::string& path_;
  Pickle result_;
  std::vector<int> stack_;
  std::unordered_map<std::int64_t, int> memo_;
  std::int64_t encoded_bytes_ = 0;  // by calls, which could name one text many times
};

Pickle Machine::run() {
  constexpr std::uint8_t stop = '.';
  while (true) {
    const auto operation = reader_.read<std::uint8_t>();
    if (operation == stop) break;
    step(operation);
  }
  result_.root = pop();
  require(stack_.empty(), "a pickle that leaves objects behind");
  return std::move(result_);
}

void Machine::step(std::uint8_t operation) {
  const bool done = push_constant(operation) || push_number(operation) || push_text(operation) ||
                    build_container(operation) || use_memo(operation);
  if (!done) arrange_stack(operation);
}

// ---- objects ----------------------------------------------------------------------------------

bool Machine::push_constant(std::uint8_t operation) {
  switch (operation) {
    case 'N': push({.kind = Kind::None}); return true;
    case 0x88: push({.kind = Kind::Flag, .integer = 1}); return true;
    case 0x89: push({.kind = Kind::Flag, .integer = 0}); return true;
    case ']': push({.kind = Kind::List}); return true;
    case 0x8f: push({.kind = Kind::List}); return true;  // a set
    case '}': push({.kind = Kind::Dict}); return true;
    case ')': push({.kind = Kind::Tuple}); return true;
    default: return false;
  }
}

std::string_view Machine::line() {
  ByteReader from = reader_;
  std::int64_t length = 0;
  while (from.read<char>() != '\n') length++;
  const std::string_view text = reader_.text(length);
  reader_.skip(1);
  return text;
}

std::int64_t Machine::decimal() {
  std::string_view text = line();
  if (text.ends_with('L')) text.remove_suffix(1);
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  require(read.ec == std::errc() && read.ptr == end, "a number that does not fit 64 bits");
  return number;
}

// Two's complement, as many bytes as it takes.
void Machine::push_long(std::int64_t bytes) {
  require(bytes >= 0 && bytes <= 8, "an integer of {} bytes", bytes);
  std::uint64_t number = 0;
  for (std::int64_t i = 0; i < bytes; i++) {
    number |= std::uint64_t{reader_.read<std::uint8_t>()} << (8 * i);
  }
  const auto unused = static_cast<int>(64 - 8 * bytes);
  const bool is_negative = bytes > 0 && number >> (8 * bytes - 1) != 0;
  if (is_negative && unused > 0) number |= ~std::uint64_t{0} << (8 * bytes);
  push({.kind = Kind::Integer, .integer = static_cast<std::int64_t>(number)});
}

bool Machine::push_number(std::uint8_t operation) {
  const auto push_integer = [&](std::int64_t value) {
    push({.kind = Kind::Integer, .integer = value});
    return true;
  };
  switch (operation) {
    case 'J': return push_integer(reader_.read<std::int32_t>());
    case 'K': return push_integer(reader_.read<std::uint8_t>());
    case 'M': return push_integer(reader_.read<std::uint16_t>());
    case 'L': return push_integer(decimal());
    case 'I': {
      const std::int64_t before = reader_.offset();
      const std::int64_t value = decimal();
      if (reader_.offset() - before != 3) return push_integer(value);  // "00" and "01" are flags
      push({.kind = Kind::Flag, .integer = value != 0});
      return true;
    }
    case 0x8a: push_long(reader_.read<std::uint8_t>()); return true;
    case 0x8b: push_long(reader_.read<std::int32_t>()); return true;
    case 'G': push({.kind = Kind::Float, .number = reader_.read_big_endian<double>()}); return true;
    default: return false;
  }
}

std::int64_t Machine::wide_length() {
  const auto length = reader_.read<std::uint64_t>();
  require(length <= static_cast<std::uint64_t>(reader_.remaining()), "a text of {} bytes", length);
  return static_cast<std::int64_t>(length);
}

bool Machine::push_text(std::uint8_t operation) {
  switch (operation) {
    case 'X': push_bytes(Kind::Text, reader_.read<std::uint32_t>()); return true;
    case 0x8c: push_bytes(Kind::Text, reader_.read<std::uint8_t>()); return true;
    case 0x8d: push_bytes(Kind::Text, wide_length()); return true;
    case 'T': push_bytes(Kind::Text, reader_.read<std::int32_t>()); return true;
    case 'U': push_bytes(Kind::Text, reader_.read<std::uint8_t>()); return true;
    case 'B': push_bytes(Kind::Bytes, reader_.read<std::uint32_t>()); return true;
    case 'C': push_bytes(Kind::Bytes, reader_.read<std::uint8_t>()); return true;
    case 0x8e: push_bytes(Kind::Bytes, wide_length()); return true;
    case 0x96: push_bytes(Kind::Bytes, wide_length()); return true;  // a bytearray
    default: return false;
  }
}

// ---- the stack --------------------------------------------------------------------------------

int Machine::top() const {
  require(!stack_.empty() && stack_.back() != mark, "an operation without an object");
  return stack_.back();
}

int Machine::pop() {
  const int number = top();
  stack_.pop_back();
  return number;
}

std::vector<int> Machine::pop_to_mark() {
  const auto found = std::find(stack_.rbegin(), stack_.rend(), mark);
  require(found != stack_.rend(), "an operation without a mark");
  std::vector<int> parts(found.base(), stack_.end());
  stack_.erase(found.base() - 1, stack_.end());
  return parts;
}

std::vector<int> Machine::pop_several(int count) {
  std::vector<int> parts;
  for (int i = 0; i < count; i++) parts.push_back(pop());
  std::ranges::reverse(parts);
  return parts;
}

Object& Machine::container(Kind kind) {
  Object& found = object(top());
  require(found.kind == kind, "something is put into what is no container for it");
  return found;
}

void Machine::append(Kind kind, const std::vector<int>& parts) {
  require(kind != Kind::Dict || parts.size() % 2 == 0, "a key without a value");
  std::vector<int>& all = container(kind).parts;
  all.insert(all.end(), parts.begin(), parts.end());
}

bool Machine::build_container(std::uint8_t operation) {
  const auto push_parts = [&](Kind kind, std::vector<int> parts) {
    require(kind != Kind::Dict || parts.size() % 2 == 0, "a key without a value");
    push({.kind = kind, .parts = std::move(parts)});
    return true;
  };
  switch (operation) {
    case 'a': append(Kind::List, pop_several(1)); return true;
    case 'e': append(Kind::List, pop_to_mark()); return true;
    case 0x90: append(Kind::List, pop_to_mark()); return true;  // of a set
    case 's': append(Kind::Dict, pop_several(2)); return true;
    case 'u': append(Kind::Dict, pop_to_mark()); return true;
    case 'l': return push_parts(Kind::List, pop_to_mark());
    case 0x91: return push_parts(Kind::List, pop_to_mark());  // a frozenset
    case 'd': return push_parts(Kind::Dict, pop_to_mark());
    case 't': return push_parts(Kind::Tuple, pop_to_mark());
    case 0x85:
    case 0x86:
    case 0x87: return push_parts(Kind::Tuple, pop_several(operation - 0x84));
    default: return false;
  }
}

void Machine::remember(std::int64_t number) { memo_[number] = top(); }

void Machine::recall(std::int64_t number) {
  const auto it = memo_.find(number);
  require(it != memo_.end(), "an object that was not remembered");
  stack_.push_back(it->second);
}

bool Machine::use_memo(std::uint8_t operation) {
  switch (operation) {
    case 'g': recall(decimal()); return true;
    case 'h': recall(reader_.read<std::uint8_t>()); return true;
    case 'j': recall(reader_.read<std::uint32_t>()); return true;
    case 'p': remember(decimal()); return true;
    case 'q': remember(reader_.read<std::uint8_t>()); return true;
    case 'r': remember(reader_.read<std::uint32_t>()); return true;
    case 0x94: remember(std::ssize(memo_)); return true;
    default: return false;
  }
}

void Machine::arrange_stack(std::uint8_t operation) {
  switch (operation) {
    case 0x80:
      require(reader_.read<std::uint8_t>() <= 5, "a pickle of a protocol that is not known");
      return;
    case 0x95: reader_.skip(8); return;  // the length of a frame
    case '(': stack_.push_back(mark); return;
    case '0':
      if (!stack_.empty() && stack_.back() == mark) {
        stack_.pop_back();
      } else {
        pop();
      }
      return;
    case '1': pop_to_mark(); return;
    case '2': stack_.push_back(top()); return;
    case 'c': {
      std::string name(line());
      name += '.';
      name += line();
      return push_global(name);
    }
    case 0x93: {
      const std::vector<int> names = pop_several(2);
      return push_global(text_at(names, 0).substr(0, max_name) + "." +
                         text_at(names, 1).substr(0, max_name));
    }
    case 'Q': return push_persistent(pop());
    case 'R':
    case 0x81: return call();
    case 'b': return build();
    default:
      require(false, "the operation {:#04x} of a pickle, which checkpoints do not need", operation);
  }
}

// ---- what is made of globals ------------------------------------------------------------------

const std::string& Machine::text_at(const std::vector<int>& list, std::size_t i) {
  require(i < list.size() && object(list[i]).kind == Kind::Text, "something that is no text");
  return object(list[i]).text;
}

void Machine::push_global(const std::string& name) {
  check(find_global(name) != nullptr,
        "{}: it names \"{}\", which is none of the classes and functions of tensors and containers",
        path_, name.substr(0, 200));
  push({.kind = Kind::Global, .text = name});
}

void Machine::push_persistent(int id) {
  require(object(id).parts.size() <= max_arguments, "a storage with too many properties");
  const std::vector<int> parts = object(id).parts;
  require(object(id).kind == Kind::Tuple && parts.size() >= 5 && text_at(parts, 0) == "storage",
          "an object outside of the file that is no storage");
  const Object& type = object(parts[1]);
  const Global* global = type.kind == Kind::Global ? find_global(type.text) : nullptr;
  const bool is_storage =
      global && (global->kind == GlobalKind::Storage || global->kind == GlobalKind::UntypedStorage);
  require(
      is_storage && object(parts[2]).kind == Kind::Text && object(parts[4]).kind == Kind::Integer,
      "a storage that is not described as one");
  push({.kind = Kind::Storage, .parts = parts});
}

void Machine::call_tensor(const Global& global, const std::vector<int>& arguments) {
  const std::size_t needed = global.kind == GlobalKind::RebuildTypedTensor ? 7 : 4;
  constexpr Kind kinds[] = {Kind::Storage, Kind::Integer, Kind::Tuple, Kind::Tuple};
  bool fits = arguments.size() >= needed;
  for (std::size_t i = 0; fits && i < std::size(kinds); i++) {
    fits = object(arguments[i]).kind == kinds[i];
  }
  require(fits, "a tensor that is not described as one");
  Object tensor{.kind = Kind::Tensor, .parts = {arguments.begin(), arguments.begin() + 4}};
  if (needed == 7) tensor.parts.push_back(arguments[6]);
  push(std::move(tensor));
}

// Calls a function that is known: what is made of the arguments is said here.
void Machine::call() {
  const std::vector<int> both = pop_several(2);
  require(object(both[0]).kind == Kind::Global && object(both[1]).kind == Kind::Tuple,
          "a call of what is no function");
  require(object(both[1]).parts.size() <= max_arguments, "a call with too many arguments");
  const std::string name = object(both[0]).text;
  const Global& global = *find_global(name);
  const std::vector<int> arguments = object(both[1]).parts;
  const auto is = [&](std::size_t i, Kind kind) {
    return i < arguments.size() && object(arguments[i]).kind == kind;
  };
  switch (global.kind) {
    case GlobalKind::RebuildTensor:
    case GlobalKind::RebuildTypedTensor: return call_tensor(global, arguments);
    case GlobalKind::RebuildParameter:
      require(is(0, Kind::Tensor), "a parameter of what is no tensor");
      stack_.push_back(arguments[0]);
      return;
    case GlobalKind::OrderedDict:
      require(arguments.empty(), "an OrderedDict of another form");
      return push({.kind = Kind::Dict});
    case GlobalKind::Set:
      require(arguments.empty() || is(0, Kind::List), "a set of what is no list");
      if (arguments.empty()) return push({.kind = Kind::List});
      stack_.push_back(arguments[0]);
      return;
    case GlobalKind::Bytes:
      require(arguments.empty(), "bytes of another form");
      return push({.kind = Kind::Bytes});
    case GlobalKind::Encode: {
      require(is(1, Kind::Text) && text_at(arguments, 1) == "latin1", "a text in another encoding");
      std::optional<std::string> bytes = latin1_of(text_at(arguments, 0));
      require(bytes.has_value(), "bytes that are no bytes");
      encoded_bytes_ += std::ssize(*bytes);
      require(encoded_bytes_ <= reader_.offset(), "one text is made to bytes again and again");
      return push({.kind = Kind::Bytes, .text = std::move(*bytes)});
    }
    case GlobalKind::Size:
      require(is(0, Kind::Tuple), "a size of what is no tuple");
      stack_.push_back(arguments[0]);
      return;
    case GlobalKind::Device: {
      std::string device = text_at(arguments, 0).substr(0, max_name);
      if (is(1, Kind::Integer)) device += ":" + std::to_string(object(arguments[1]).integer);
      return push({.kind = Kind::Text, .text = std::move(device)});
    }
    case GlobalKind::DType:
    case GlobalKind::Storage:
    case GlobalKind::UntypedStorage: break;
  }
  require(false, "a call of {}", name);
}

// Attributes: an OrderedDict has some that are for PyTorch alone; nothing else may have any.
void Machine::build() {
  pop();
  container(Kind::Dict);
}

}  // namespace

Pickle read_pickle(ByteReader& reader, const std::string& path) {
  return Machine(reader, path).run();
}

}  // namespace croze::pytorch
