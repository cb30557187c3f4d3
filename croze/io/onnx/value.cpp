// value.cpp -- values and the names of their types.
#include "croze/io/onnx/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"

namespace croze::onnx {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  DType dtype;   // Void: croze computes nothing with it
  int bits = 0;  // of an element in a file, where they are not those of the dtype
};

// The first row of a dtype is the type of its tensors.
// clang-format off
constexpr TypeRow types[] = {
  {ElementType::Float, "float32", DType::Float32},
  {ElementType::UInt8, "uint8", DType::UInt8},
  {ElementType::Int8, "int8", DType::Int8},
  {ElementType::UInt16, "uint16", DType::UInt16},
  {ElementType::Int16, "int16", DType::Int16},
  {ElementType::Int32, "int32", DType::Int32},
  {ElementType::Int64, "int64", DType::Int64},
  {ElementType::String, "string", DType::Void},
  {ElementType::Bool, "bool", DType::Bool},
  {ElementType::Float16, "float16", DType::Float16},
  {ElementType::Double, "float64", DType::Float64},
  {ElementType::UInt32, "uint32", DType::UInt32},
  {ElementType::UInt64, "uint64", DType::UInt64},
  {ElementType::Complex64, "complex64", DType::Void},
  {ElementType::Complex128, "complex128", DType::Void},
  {ElementType::BFloat16, "bfloat16", DType::BFloat16},
  {ElementType::Float8E4M3FN, "float8e4m3fn", DType::Float8E4M3},
  {ElementType::Float8E4M3FNUZ, "float8e4m3fnuz", DType::Float8E4M3FNUZ},
  {ElementType::Float8E5M2, "float8e5m2", DType::Float8E5M2},
  {ElementType::Float8E5M2FNUZ, "float8e5m2fnuz", DType::Float8E5M2FNUZ},
  {ElementType::UInt4, "uint4", DType::UInt8, 4},
  {ElementType::Int4, "int4", DType::Int8, 4},
  {ElementType::Float4E2M1, "float4e2m1", DType::Float8E4M3, 4},
  {ElementType::Float8E8M0, "float8e8m0", DType::BFloat16, 8},
  {ElementType::UInt2, "uint2", DType::UInt8, 2},
  {ElementType::Int2, "int2", DType::Int8, 2},
};
// clang-format on

const TypeRow* row_of(ElementType type) {
  const auto* row = std::ranges::find(types, type, &TypeRow::type);
  return row == std::end(types) ? nullptr : row;
}

std::string_view name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::Nothing: return "nothing";
    case Value::Kind::Tensor: return "a tensor of numbers";
    case Value::Kind::Texts: return "a tensor of texts";
    case Value::Kind::Sequence: return "a sequence";
  }
  return "unknown";
}

}  // namespace

std::string name_of(ElementType type) {
  const TypeRow* row = row_of(type);
  return row ? std::string(row->name) : fmt::format("type {}", static_cast<int>(type));
}

bool has_dtype(ElementType type) {
  const TypeRow* row = row_of(type);
  return row && row->dtype != DType::Void;
}

DType dtype_of(ElementType type) {
  check(has_dtype(type), "croze does not compute with elements of {}", name_of(type));
  return row_of(type)->dtype;
}

int bits_of(ElementType type) {
  const DType dtype = dtype_of(type);
  const int bits = row_of(type)->bits;
  return bits > 0 ? bits : static_cast<int>(8 * size_of(dtype));
}

ElementType element_type_of(DType dtype) {
  const auto* row = std::ranges::find(types, dtype, &TypeRow::dtype);
  ensure(row != std::end(types), "{} is not a dtype of tensors", croze::name_of(dtype));
  return row->type;
}

Value::Value(Tensor tensor)
    : kind_(Kind::Tensor),
      element_type_(element_type_of(tensor.dtype())),
      tensor_(std::move(tensor)) {}

Value::Value(TextArray texts)
    : kind_(Kind::Texts),
      element_type_(ElementType::String),
      texts_(std::make_shared<const TextArray>(std::move(texts))) {}

Value Value::sequence(std::vector<Value> items) {
  Value value;
  value.kind_ = Kind::Sequence;
  value.items_ = std::make_shared<const std::vector<Value>>(std::move(items));
  return value;
}

void Value::require(Kind kind) const {
  check(kind_ == kind, "{} is wanted, not {}", name_of(kind), name_of(kind_));
}

Shape Value::shape() const { return kind_ == Kind::Texts ? texts_->shape : tensor().shape(); }

const Tensor& Value::tensor() const {
  require(Kind::Tensor);
  return tensor_;
}

const TextArray& Value::texts() const {
  require(Kind::Texts);
  return *texts_;
}

const std::vector<Value>& Value::items() const {
  require(Kind::Sequence);
  return *items_;
}

// Recursion is as deep as sequences nest, which the parser has bounded.
namespace {

void collect_tensors(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.tensor());
  if (value.kind() != Value::Kind::Sequence) return;
  for (const Value& item : value.items()) collect_tensors(item, tensors);
}

Value with_next(const Value& value, std::span<const Tensor>& tensors) {
  if (value.kind() == Value::Kind::Sequence) {
    std::vector<Value> items;
    for (const Value& item : value.items()) items.push_back(with_next(item, tensors));
    return Value::sequence(std::move(items));
  }
  if (!value.is_tensor()) return value;
  const Tensor& next = tensors.front();
  tensors = tensors.subspan(1);
  return {next, value.element_type()};
}

}  // namespace

std::vector<Tensor> tensors_of(std::span<const Value> values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) collect_tensors(value, tensors);
  return tensors;
}

std::vector<Value> with_tensors(std::span<const Value> values, std::span<const Tensor> tensors) {
  std::vector<Value> result;
  for (const Value& value : values) result.push_back(with_next(value, tensors));
  return result;
}

std::string describe(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Nothing: return "nothing";
    case Value::Kind::Sequence: return fmt::format("sequence of {}", value.items().size());
    default: return fmt::format("{} {}", name_of(value.element_type()), to_text(value.shape()));
  }
}

}  // namespace croze::onnx
