// tensor_data.cpp -- elements from raw bytes, from typed fields, from files, and packed in bits.
#include "croze/io/onnx/tensor_data.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/io/byte_size.h"
#include "croze/io/protobuf.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::onnx {
namespace {

constexpr int max_rank = 64;

// Whether files hold codes that are not the elements of the dtype.
bool is_coded(ElementType type) { return bits_of(type) != 8 * size_of(dtype_of(type)); }

// "path: tensor "name"", for messages.
std::string title(std::string_view source, const TensorProto& tensor) {
  return fmt::format("{}: tensor \"{}\"", source, tensor.name.substr(0, 200));
}

Shape shape_of(const TensorProto& tensor, const std::string& what) {
  check(static_cast<int>(tensor.dims.size()) <= max_rank, "{} has {} axes, more than {}", what,
        tensor.dims.size(), max_rank);
  for (std::int64_t size : tensor.dims) check(size >= 0, "{} has an axis of {}", what, size);
  return Shape(tensor.dims);
}

// Bytes that the elements take in a file.
std::int64_t bytes_of(const Shape& shape, ElementType type, const std::string& what) {
  const DType dtype = dtype_of(type);
  const std::optional<std::int64_t> bytes = byte_size(shape, dtype);
  check(bytes.has_value(), "{}: the size of shape {} does not fit 64 bits", what, to_text(shape));
  if (!is_coded(type)) return *bytes;
  const std::int64_t count = shape.numel(), per_byte = 8 / bits_of(type);
  return count / per_byte + (count % per_byte != 0);
}

// The element of a dtype in memory that a code stands for.
unsigned element_of(unsigned code, ElementType type) {
  switch (type) {
    case ElementType::Int2: return code >= 2 ? code | 0xfc : code;
    case ElementType::Int4: return code >= 8 ? code | 0xf0 : code;
    // Sign, two bits of exponent, one of fraction: 0, 0.5, 1, 1.5, 2, 3, 4, 6.  Float8E4M3 has
    // three bits of fraction, and an exponent that is greater by 6.
    case ElementType::Float4E2M1: {
      const unsigned exponent = code >> 1 & 3, fraction = code & 1;
      const unsigned half = 0x30;
      const unsigned magnitude =
          exponent > 0 ? (exponent + 6) << 3 | fraction << 2 : fraction * half;
      return (code >> 3) << 7 | magnitude;
    }
    // The exponent of a power of two, as it stands in BFloat16; the least is subnormal there.
    case ElementType::Float8E8M0: return code == 0 ? 0x40 : code == 255 ? 0x7fc0 : code << 7;
    default: return code;
  }
}

// Codes that share bytes, the first in the lowest bits, to elements of the dtype.  As long as the
// file at most times four.
std::vector<std::byte> decoded(Bytes packed, std::int64_t count, ElementType type) {
  const auto bits = static_cast<unsigned>(bits_of(type)), per_byte = 8 / bits;
  const auto width = static_cast<std::size_t>(size_of(dtype_of(type)));
  std::vector<std::byte> elements(static_cast<std::size_t>(count) * width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); i++) {
    const auto all = std::to_integer<unsigned>(packed[i / per_byte]);
    const unsigned code = all >> (i % per_byte * bits) & ((1U << bits) - 1);
    const unsigned element = element_of(code, type);
    std::memcpy(&elements[i * width], &element, width);
  }
  return elements;
}

// The elements that stand in fields of their type: in memory form, as raw bytes would be.
// float_data (4), int32_data (5; all types of up to 32 bits), int64_data (7), double_data (10),
// uint64_data (11; unsigned 32 and 64 bits).
std::vector<std::byte> typed_elements(const TensorProto& tensor, std::string_view source) {
  const DType dtype = dtype_of(tensor.type);
  std::vector<std::int64_t> integers;
  std::vector<float> floats;
  std::vector<double> doubles;
  protobuf::Reader reader(tensor.message, source);
  for (protobuf::Field f; reader.next(f);) {
    const int number = f.number();
    if (number == 4) f.append_to(floats);
    if (number == 5 || number == 7 || number == 11) f.append_to(integers);
    if (number == 10) f.append_to(doubles);
  }
  const auto raw = [](const auto& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  if (dtype == DType::Float32) return raw(floats);
  if (dtype == DType::Float64) return raw(doubles);
  // Half types stand as the integers of their bits.
  const auto width = static_cast<std::size_t>(is_coded(tensor.type) ? 1 : size_of(dtype));
  std::vector<std::byte> elements(integers.size() * width);
  for (std::size_t i = 0; i < integers.size(); i++) {
    std::memcpy(&elements[i * width], &integers[i], width);
  }
  return elements;
}

TextArray texts_of(const TensorProto& tensor, const Shape& shape, std::string_view source) {
  TextArray result{shape, {}};
  protobuf::Reader reader(tensor.message, source);
  for (protobuf::Field f; reader.next(f);) {
    if (f.number() == 6) result.elements.emplace_back(f.text());
  }
  check(static_cast<std::int64_t>(result.elements.size()) == shape.numel(),
        "{}: shape {}, but {} texts", title(source, tensor), to_text(shape),
        result.elements.size());
  return result;
}

bool is_aligned(const std::byte* address, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(size_of(dtype)) ==
         0;
}

std::int64_t number_from(std::string_view text, const std::string& what) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size() && number >= 0,
        "{}: \"{}\" is not a place in a file", what, text.substr(0, 40));
  return number;
}

}  // namespace

DataSource::Content DataSource::external(const TensorProto& tensor, std::int64_t wanted) {
  const std::string what = title(name_, tensor);
  check(!folder_.empty(), "{} names another file, which is not allowed here", what);
  std::string_view location;
  std::int64_t offset = 0, length = wanted;
  for (const auto& [key, value] : tensor.external) {
    if (key == "location") location = value;
    if (key == "offset") offset = number_from(value, what);
    if (key == "length") length = number_from(value, what);
  }
  check(length == wanted, "{} takes {} bytes, but its file has {} for it", what, wanted, length);
  auto it = files_.find(location);
  if (it == files_.end()) {
    auto file = std::make_shared<const MappedFile>(MappedFile::inside(folder_, location));
    it = files_.emplace(std::string(location), std::move(file)).first;
  }
  const MappedFile& file = *it->second;
  ByteReader reader = file.reader();
  reader.seek(offset);
  return {reader.bytes(length), it->second};
}

Value DataSource::numbers(const TensorProto& tensor, const Shape& shape) {
  const std::string what = title(name_, tensor);
  const DType dtype = dtype_of(tensor.type);
  const std::int64_t wanted = bytes_of(shape, tensor.type, what);
  std::vector<std::byte> typed;
  Content content{{}, owner_};
  if (tensor.is_external) {
    content = external(tensor, wanted);
  } else if (tensor.raw) {
    content.bytes = *tensor.raw;
  } else {
    typed = typed_elements(tensor, name_);
    content = {typed, nullptr};
  }
  check(static_cast<std::int64_t>(content.bytes.size()) == wanted,
        "{}: shape {} of {} takes {} bytes, but {} are there", what, to_text(shape),
        name_of(tensor.type), wanted, content.bytes.size());
  if (is_coded(tensor.type)) {
    const auto elements = decoded(content.bytes, shape.numel(), tensor.type);
    return {Tensor::from_bytes(elements, dtype, shape), tensor.type};
  }
  // A file may place a tensor anywhere; memory that its dtype cannot be loaded from is copied.
  if (!content.owner || !is_aligned(content.bytes.data(), dtype)) {
    return Tensor::from_bytes(content.bytes, dtype, shape);
  }
  return Tensor::from_blob(content.bytes.data(), shape, dtype, content.owner);
}

Value DataSource::value_of(const TensorProto& tensor) {
  const Shape shape = shape_of(tensor, title(name_, tensor));
  if (tensor.type == ElementType::String) return texts_of(tensor, shape, name_);
  return numbers(tensor, shape);
}

// Indices are positions in row order, or one row of coordinates per element.
Value DataSource::value_of(const SparseTensorProto& tensor) {
  TensorProto shape_only;
  shape_only.name = tensor.values.name;
  shape_only.dims = tensor.dims;
  const std::string what = title(name_, shape_only);
  const Shape shape = shape_of(shape_only, what);
  const Tensor values = value_of(tensor.values).tensor();
  const std::vector<std::int64_t> given =
      value_of(tensor.indices).tensor().to_vector<std::int64_t>();
  const std::int64_t count = values.numel(), rank = shape.size();
  const auto given_count = static_cast<std::int64_t>(given.size());
  // No file of its own bounds the dense form.
  constexpr std::int64_t max_dense_bytes = std::int64_t{1} << 31;
  const auto dense_bytes = byte_size(shape, dtype_of(tensor.values.type));
  check(dense_bytes && *dense_bytes <= max_dense_bytes,
        "{}: the dense form of shape {} is too large", what, to_text(shape));
  const bool coordinates = given_count != count;
  check(!coordinates || given_count == checked_mul(count, rank), "{}: {} values but {} indices",
        what, count, given_count);
  std::vector<std::int64_t> places(static_cast<std::size_t>(count), 0);
  for (std::int64_t i = 0; i < given_count; i++) {
    std::int64_t& place = places[static_cast<std::size_t>(coordinates ? i / rank : i)];
    const std::int64_t limit = coordinates ? shape[i % rank] : shape.numel();
    const std::int64_t index = given[static_cast<std::size_t>(i)];
    check(index >= 0 && index < limit, "{}: index {} is outside of {}", what, index, limit);
    place = (coordinates ? place * limit : 0) + index;
  }
  const Tensor dense = Tensor::zeros({shape.numel()}, {.dtype = values.dtype()});
  const Tensor flat_places = Tensor::from_data(places, {count});
  return scatter(dense, 0, flat_places, values.flatten()).reshape(shape);
}

Value DataSource::value_of(const SequenceProto& sequence) {
  std::vector<Value> items;
  for (const TensorProto& t : sequence.tensors) items.push_back(value_of(t));
  for (const SequenceProto& s : sequence.sequences) items.push_back(value_of(s));
  return Value::sequence(std::move(items));
}

Value DataSource::value_of(const OptionalProto& optional) {
  if (optional.tensor) return value_of(*optional.tensor);
  if (optional.sequence) return value_of(*optional.sequence);
  return {};
}

}  // namespace croze::onnx
