// value.h -- what flows between the nodes of a model: a tensor, a sequence, or nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/onnx/proto.h"
#include "croze/tensor/tensor.h"

namespace croze::onnx {

// "float16", "int4", ...; "type 99" for numbers that have no name.
std::string name_of(ElementType type);
// The dtype that elements are computed in.  Types without a dtype of their own stand in the
// smallest that holds all their values: Int4 and Int2 in Int8, UInt4 and UInt2 in UInt8, Float4E2M1
// in Float8E4M3, Float8E8M0 in BFloat16.  Throws Error for types that croze has no numbers for
// (texts, complex numbers).
DType dtype_of(ElementType type);
bool has_dtype(ElementType type);
// Bits that an element takes in a file: 2 or 4 if several share a byte.  Throws as dtype_of does.
int bits_of(ElementType type);
// The type of tensors of a dtype.
ElementType element_type_of(DType dtype);

// Texts live on the host.
struct TextArray {
  Shape shape;
  std::vector<std::string> elements;  // row by row
};

class Value {
 public:
  enum class Kind { Nothing, Tensor, Texts, Sequence };

  // Nothing: an optional without a value.
  Value() = default;
  Value(Tensor tensor);
  // For element types that share a dtype with another.
  Value(Tensor tensor, ElementType type) : Value(std::move(tensor)) { element_type_ = type; }
  Value(TextArray texts);
  static Value sequence(std::vector<Value> items);

  Kind kind() const { return kind_; }
  bool is_nothing() const { return kind_ == Kind::Nothing; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  // Of tensors and texts.
  ElementType element_type() const { return element_type_; }
  Shape shape() const;

  // Each throws Error if this is something else.
  const Tensor& tensor() const;
  const TextArray& texts() const;
  const std::vector<Value>& items() const;

 private:
  void require(Kind kind) const;

  Kind kind_ = Kind::Nothing;
  ElementType element_type_ = ElementType::Undefined;
  Tensor tensor_;
  std::shared_ptr<const TextArray> texts_;
  std::shared_ptr<const std::vector<Value>> items_;
};

// All tensors of the values, those in sequences included, in order; and the values with others in
// their places.
std::vector<Tensor> tensors_of(std::span<const Value> values);
std::vector<Value> with_tensors(std::span<const Value> values, std::span<const Tensor> tensors);

// "float32 (2, 3)", "sequence of 4", "nothing".
std::string describe(const Value& value);

}  // namespace croze::onnx
