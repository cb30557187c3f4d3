// npy.cpp -- the format of numpy/lib/format.py: a magic text, a version, the length of a header,
// the header (a Python dictionary of three entries), the elements.
#include "croze/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/io/byte_size.h"
#include "croze/io/zip.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::int64_t max_header_bytes = 1 << 20, header_alignment = 64;
constexpr int max_rank = 64;

struct TypeName {
  DType dtype;
  std::string_view code;  // kind and bytes
};
// clang-format off
constexpr TypeName type_names[] = {
  {DType::Bool, "b1"}, {DType::Int8, "i1"}, {DType::Int16, "i2"}, {DType::Int32, "i4"},
  {DType::Int64, "i8"}, {DType::UInt8, "u1"}, {DType::UInt16, "u2"}, {DType::UInt32, "u4"},
  {DType::UInt64, "u8"}, {DType::Float16, "f2"}, {DType::Float32, "f4"}, {DType::Float64, "f8"},
};
// clang-format on

struct Header {
  DType dtype = DType::Void;
  bool big_endian = false, column_order = false;
  Shape shape;
};

// ---- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ------------------

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  Header parse() {
    Header header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      bool* has = key == "descr"           ? &has_type
                  : key == "fortran_order" ? &has_order
                  : key == "shape"         ? &has_shape
                                           : nullptr;
      check(has != nullptr, "{}: the header has an unknown entry \"{}\"", path_, key.substr(0, 40));
      check(!std::exchange(*has, true), "{}: the header has the entry \"{}\" twice", path_, key);
      expect(':');
      if (has == &has_type) set_type(header, quoted());
      if (has == &has_order) header.column_order = boolean();
      if (has == &has_shape) header.shape = shape();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    check(has_type && has_order && has_shape, "{}: the header lacks an entry", path_);
    skip_space();
    check(rest_.empty(), "{}: the header goes on behind its end", path_);
    return header;
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    check(accept(c), "{}: the header has no '{}' before \"{}\"", path_, c, rest_.substr(0, 40));
  }
  std::string_view quoted() {
    skip_space();
    const char quote = rest_.empty() ? ' ' : rest_[0];
    check(quote == '\'' || quote == '"', "{}: the header has no text at \"{}\"", path_,
          rest_.substr(0, 40));
    const std::size_t end = rest_.find(quote, 1);
    check(end != rest_.npos, "{}: a text of the header does not end", path_);
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail({}, "{}: fortran_order is neither True nor False", path_);
  }
  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; digits++) {
      const bool fits = !__builtin_mul_overflow(value, 10, &value) &&
                        !__builtin_add_overflow(value, rest_[digits] - '0', &value);
      check(fits, "{}: a size of the shape does not fit 64 bits", path_);
    }
    check(digits > 0, "{}: the shape has no size at \"{}\"", path_, rest_.substr(0, 40));
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // as Python 2 wrote
    return value;
  }
  Shape shape() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      check(result.size() < max_rank, "{}: more than {} axes", path_, max_rank);
      result.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }
  void set_type(Header& header, std::string_view text) {
    const std::string_view orders = "<>|=";
    const bool has_order = !text.empty() && orders.find(text[0]) != orders.npos;
    const std::string_view code = text.substr(has_order ? 1 : 0);
    const auto* row = std::ranges::find(type_names, code, &TypeName::code);
    check(row != std::end(type_names), "{}: croze has no dtype \"{}\"", path_, text.substr(0, 40));
    header.dtype = row->dtype;
    header.big_endian = has_order && text[0] == '>';
  }

  std::string_view rest_;
  const std::string& path_;
};

Header read_header(ByteReader& reader, const std::string& path) {
  check(reader.remaining() >= 10 && reader.text(6) == magic, "{} is not a NumPy array", path);
  const auto major = reader.read<std::uint8_t>();
  reader.skip(1);  // minor version
  check(major >= 1 && major <= 3, "{}: version {} of the format is not known", path, major);
  const std::int64_t length = major == 1 ? std::int64_t{reader.read<std::uint16_t>()}
                                         : std::int64_t{reader.read<std::uint32_t>()};
  check(length <= max_header_bytes, "{}: a header of {} bytes, more than {}", path, length,
        max_header_bytes);
  return HeaderParser(reader.text(length), path).parse();
}

// ---- the elements -----------------------------------------------------------------------------

std::vector<std::byte> swapped(std::span<const std::byte> bytes, std::size_t width) {
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  for (auto at = result.begin(); at != result.end(); at += static_cast<std::ptrdiff_t>(width)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

// An array in memory that `owner` keeps alive (null: that must be copied).
Tensor array_from(std::span<const std::byte> content, const std::shared_ptr<const void>& owner,
                  const std::string& path, const TensorOptions& options) {
  ByteReader reader(content, path);
  Header header = read_header(reader, path);
  const std::optional<std::int64_t> bytes = byte_size(header.shape, header.dtype);
  check(bytes.has_value(), "{}: the size of shape {} does not fit 64 bits", path,
        to_text(header.shape));
  check(*bytes == reader.remaining(), "{}: shape {} of {} takes {} bytes, but {} are there", path,
        to_text(header.shape), name_of(header.dtype), *bytes, reader.remaining());
  const auto elements = reader.bytes(*bytes);
  const auto width = static_cast<std::size_t>(size_of(header.dtype));
  const TensorOptions here{.dtype = std::nullopt, .device = options.device};
  // Elements in column order are those of the transposed array in row order.
  Shape stored = header.shape, order;
  if (header.column_order) {
    for (int i = 0; i < stored.size(); i++) {
      stored[i] = header.shape[stored.size() - 1 - i];
      order.push_back(stored.size() - 1 - i);
    }
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(elements.data()) % width == 0;
  Tensor result;
  if (header.big_endian && width > 1) {
    result = Tensor::from_bytes(swapped(elements, width), header.dtype, stored, here);
  } else if (owner && aligned && header.dtype != DType::Bool) {
    result = Tensor::from_blob(elements.data(), stored, header.dtype, owner, here);
  } else if (header.dtype == DType::Bool) {
    // A file may hold any byte; a bool is 0 or 1.
    result = (Tensor::from_bytes(elements, DType::UInt8, stored, here) != 0).contiguous();
  } else {
    result = Tensor::from_bytes(elements, header.dtype, stored, here);
  }
  if (header.column_order) result = result.permute(order);
  return options.dtype ? result.cast(*options.dtype) : result;
}

std::string header_of(const Tensor& tensor) {
  const auto* row = std::ranges::find(type_names, tensor.dtype(), &TypeName::dtype);
  check(row != std::end(type_names), "NumPy has no {}: cast to float32 first",
        name_of(tensor.dtype()));
  std::string sizes;
  for (std::int64_t size : tensor.shape()) sizes += fmt::format("{}, ", size);
  if (tensor.ndim() > 1) sizes.resize(sizes.size() - 2);
  if (tensor.ndim() == 1) sizes.pop_back();
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 size_of(row->dtype) == 1 ? '|' : '<', row->code, sizes);
  // Magic, version and length are 10 bytes; the elements begin aligned.
  const auto length = static_cast<std::int64_t>(text.size()) + 11;
  const std::int64_t padded = (length + header_alignment - 1) / header_alignment * header_alignment;
  text.append(static_cast<std::size_t>(padded - length), ' ');
  text += '\n';
  check(text.size() <= 0xffff, "a shape of {} axes is too long for a header", tensor.ndim());
  std::string header(magic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

Tensor load_npy(const std::string& path, const TensorOptions& options) {
  const auto file = std::make_shared<const MappedFile>(path);
  return array_from(file->data(), file, path, options);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const std::string header = header_of(tensor);
  const std::vector<std::byte> elements = tensor.to_bytes();
  FileWriter file(path);
  file.write(header);
  file.write(elements);
  file.commit();
}

StateDict load_npz(const std::string& path, const TensorOptions& options) {
  constexpr std::string_view suffix = ".npy";
  const ZipReader archive(path);
  StateDict result;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(suffix)) continue;
    const std::string what = fmt::format("{}: \"{}\"", path, entry.name.substr(0, 200));
    const std::string name = entry.name.substr(0, entry.name.size() - suffix.size());
    if (entry.is_stored) {
      result.push_back({name, array_from(archive.stored(entry), archive.file(), what, options)});
      continue;
    }
    const auto bytes = std::make_shared<const std::vector<std::byte>>(archive.read(entry));
    result.push_back({name, array_from(*bytes, bytes, what, options)});
  }
  return result;
}

void save_npz(const std::string& path, const StateDict& tensors) {
  std::vector<Tensor> values;
  for (const NamedTensor& t : tensors) values.push_back(t.tensor);
  realize(values);
  ZipWriter archive(path);
  for (const NamedTensor& t : tensors) {
    const std::string header = header_of(t.tensor);
    const std::vector<std::byte> elements = t.tensor.to_bytes();
    const std::array parts{bytes_of(header), std::span<const std::byte>(elements)};
    archive.add(t.name + ".npy", parts);
  }
  archive.commit();
}

}  // namespace croze
