// parse.cpp -- a module from its words.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "croze/backends/ptx_interp/lexer.h"
#include "croze/backends/ptx_interp/module.h"
#include "croze/base/error.h"

namespace croze::ptx_interp {
namespace {

struct TypeInfo {
  std::string_view name;
  std::int64_t bytes;
};
constexpr TypeInfo types[] = {{"pred", 0}, {"b8", 1},  {"b16", 2}, {"b32", 4}, {"b64", 8},
                              {"u8", 1},   {"u16", 2}, {"u32", 4}, {"u64", 8}, {"s8", 1},
                              {"s16", 2},  {"s32", 4}, {"s64", 8}, {"f16", 2}, {"bf16", 2},
                              {"f32", 4},  {"f64", 8}};

// Registers that are declared together: "%r<7>".
struct Family {
  std::string_view prefix;
  std::int32_t first;
  std::int64_t count;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}

  Module run() {
    header();
    expect(".visible");
    expect(".entry");
    module_.entry = std::string(name("the name of the entry"));
    expect("(");
    while (!accept(")")) parameter();
    while (word() != "{") group_size();
    expect("{");
    while (!accept("}")) statement();
    if (!word().empty()) refuse("the end of the text");
    return std::move(module_);
  }

 private:
  // ---- words ----

  const Token& token() const { return tokens_[at_]; }
  std::string_view word() const { return token().text; }
  std::string_view take() {
    const std::string_view text = word();
    if (at_ + 1 < tokens_.size()) at_++;
    return text;
  }
  bool accept(std::string_view text) {
    if (word() != text) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) refuse(fmt::format("'{}'", text));
  }
  [[noreturn]] void refuse(std::string_view expected) const {
    fail({}, "PTX, line {}: expected {}, not {}", token().line, expected,
         word().empty() ? std::string("the end") : fmt::format("'{}'", word()));
  }

  std::string_view name(std::string_view what) {
    const char first = word().empty() ? '0' : word()[0];
    if (std::isalpha(static_cast<unsigned char>(first)) == 0 && first != '_' && first != '$') {
      refuse(what);
    }
    return take();
  }

  std::int64_t integer() {
    const bool negative = accept("-");
    std::string_view digits = word();
    const int base = digits.starts_with("0x") ? 16 : 10;
    if (base == 16) digits.remove_prefix(2);
    std::uint64_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    if (error != std::errc() || end != digits.data() + digits.size()) refuse("an integer");
    take();
    return static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude);
  }

  Type type() {
    std::string_view text = word();
    const std::optional<Type> found =
        text.starts_with(".") ? type_named(text.substr(1)) : std::nullopt;
    if (!found) refuse("a type");
    take();
    return *found;
  }

  // ---- around the body ----

  void header() {
    for (std::string_view directive : {".version", ".target", ".address_size"}) {
      expect(directive);
      take();
    }
  }

  void parameter() {
    expect(".param");
    if (accept(".align")) {
      map();
    } else {
      const Type t = type();
      module_.parameters.push_back({std::string(name("the name of a parameter")), t});
    }
    if (word() != ")") expect(",");
  }

  void map() {
    if (integer() != 64 || type() != Type::B8) refuse("a tensor map, .align 64 .b8");
    module_.parameters.push_back({std::string(name("the name of a map")), Type::B8, true});
    expect("[");
    if (integer() != 128) refuse("128 bytes");
    expect("]");
  }

  void group_size() {
    expect(".reqntid");
    for (int axis = 0; axis < 3; axis++) {
      if (axis > 0) expect(",");
      module_.items[axis] = integer();
    }
  }

  // ---- the body ----

  void statement() {
    if (accept(".reg")) return registers();
    if (word() == ".shared" || word() == ".local") return array();
    if (word().starts_with("$")) return label();
    instruction();
  }

  void registers() {
    const Type t = type();
    const std::string_view prefix = take();
    if (!prefix.starts_with("%")) refuse("a register");
    expect("<");
    const std::int64_t count = integer();
    expect(">");
    expect(";");
    families_.push_back({prefix, static_cast<std::int32_t>(module_.registers.size()), count});
    module_.registers.insert(module_.registers.end(), static_cast<std::size_t>(count), t);
  }

  void array() {
    Array result;
    result.is_shared = take() == ".shared";
    expect(".align");
    result.alignment = integer();
    if (type() != Type::B8) refuse("an array of .b8");
    result.name = std::string(name("the name of an array"));
    expect("[");
    result.bytes = integer();
    expect("]");
    expect(";");
    module_.arrays.push_back(std::move(result));
  }

  void label() {
    const std::int32_t line = token().line;
    const std::string text(take());
    expect(":");
    if (std::ranges::find(module_.labels, text, &Label::name) != module_.labels.end()) {
      fail({}, "PTX, line {}: a second label {}", line, text);
    }
    module_.labels.push_back({text, module_.instructions.size()});
  }

  void instruction() {
    Instruction result;
    result.line = token().line;
    if (accept("@")) {
      result.negated = accept("!");
      result.guard = register_number();
      if (module_.registers[static_cast<std::size_t>(result.guard)] != Type::Pred) {
        fail({}, "PTX, line {}: the guard is no predicate", result.line);
      }
    }
    result.name = std::string(name("an instruction"));
    while (!accept(";")) {
      if (!result.operands.empty()) expect(",");
      result.operands.push_back(operand());
    }
    module_.instructions.push_back(std::move(result));
  }

  // ---- operands ----

  bool is_register() const { return word().starts_with("%") && find_register() >= 0; }

  std::int32_t find_register() const {
    const std::size_t digits = word().find_last_not_of("0123456789") + 1;
    const auto family = std::ranges::find(families_, word().substr(0, digits), &Family::prefix);
    std::int64_t number = -1;
    std::from_chars(word().data() + digits, word().data() + word().size(), number);
    if (family == families_.end() || number < 0 || number >= family->count) return -1;
    return family->first + static_cast<std::int32_t>(number);
  }

  std::int32_t register_number() {
    const std::int32_t number = find_register();
    if (number < 0) refuse("a declared register");
    take();
    return number;
  }

  Operand operand() {
    if (word() == "[") return address();
    if (word() == "{") return vector();
    Operand result;
    if (is_register()) {
      result.kind = Operand::Kind::Register;
      result.number = register_number();
    } else if (word().starts_with("0f") || word().starts_with("0d")) {
      return float_bits();
    } else if (word() == "-" || std::isdigit(static_cast<unsigned char>(first())) != 0) {
      result.kind = Operand::Kind::Integer;
      result.value = integer();
    } else if (word().starts_with("%")) {
      // Only special registers have parts.
      if (word().find('.') == std::string_view::npos) refuse("a declared register");
      result.name = std::string(take());
    } else {
      result.name = std::string(name("an operand"));
    }
    return result;
  }

  char first() const { return word().empty() ? ' ' : word()[0]; }

  Operand float_bits() {
    Operand result;
    const bool is_double = word()[1] == 'd';
    result.kind = is_double ? Operand::Kind::Float64 : Operand::Kind::Float32;
    const std::string_view digits = word().substr(2);
    std::uint64_t bits = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    if (!is_whole || digits.size() != (is_double ? 16 : 8)) refuse("the bits of a float");
    take();
    result.value = static_cast<std::int64_t>(bits);
    return result;
  }

  Operand address() {
    Operand result;
    result.kind = Operand::Kind::Address;
    expect("[");
    if (is_register()) {
      result.number = register_number();
    } else {
      result.name = std::string(name("a register or a name"));
    }
    if (accept("+")) result.value = integer();
    if (accept(",")) result.registers = vector().registers;
    expect("]");
    return result;
  }

  Operand vector() {
    Operand result;
    result.kind = Operand::Kind::Vector;
    expect("{");
    while (!accept("}")) {
      if (!result.registers.empty()) expect(",");
      result.registers.push_back(register_number());
    }
    return result;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Module module_;
  std::vector<Family> families_;
};

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypeInfo::name);
  if (found == std::end(types)) return {};
  return static_cast<Type>(found - std::begin(types));
}

std::string_view name_of(Type t) { return types[static_cast<std::size_t>(t)].name; }
std::int64_t size_of(Type t) { return types[static_cast<std::size_t>(t)].bytes; }

Module parse(std::string_view text) { return Parser(text).run(); }

}  // namespace croze::ptx_interp
