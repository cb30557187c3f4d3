// types.cpp -- constants, conversions and questions about shapes.
#include <algorithm>

#include "croze/io/onnx/ops/convert.h"
#include "croze/io/onnx/ops/ops.h"
#include "croze/io/onnx/ops/texts.h"

namespace croze::onnx {
namespace {

// From this opset on integers of 2 and 4 bits keep the low bits of what is cast to them.
constexpr int wrapping_casts = 24;

Value converted(const NodeCall& call, ElementType type) {
  if (call.value(0).kind() == Value::Kind::Texts) {
    if (type == ElementType::String) return call.value(0);
    return numbers_of_texts(call.value(0).texts(), dtype_of(type));
  }
  const Tensor& x = call[0];
  if (type == ElementType::String) return texts_of_numbers(x);
  return {converted_to(x, type,
                       {.saturate = call.flag("saturate", true),
                        .wrap = call.version() >= wrapping_casts,
                        .round_mode = call.text("round_mode", "up")}),
          type};
}

Results cast_op(const NodeCall& call) {
  return {converted(call, static_cast<ElementType>(call.required_integer("to")))};
}

Results cast_like(const NodeCall& call) { return {converted(call, call.value(1).element_type())}; }

Results constant(const NodeCall& call) {
  if (call.has_attribute("value")) return {call.constant("value")};
  if (call.has_attribute("sparse_value")) return {call.constant("sparse_value")};
  const DType f32 = DType::Float32;
  if (call.has_attribute("value_float")) {
    return {Tensor::scalar(call.real("value_float", 0), {.dtype = f32})};
  }
  if (call.has_attribute("value_int")) return {Tensor::scalar(call.integer("value_int", 0))};
  if (call.has_attribute("value_string")) {
    return {TextArray{{}, {std::string(call.text("value_string", ""))}}};
  }
  if (call.has_attribute("value_ints")) return {vector_of(call.integers("value_ints"))};
  if (call.has_attribute("value_floats")) {
    const std::vector<double> values = call.reals("value_floats");
    return {Tensor::from_data(values, {static_cast<std::int64_t>(values.size())}, {.dtype = f32})};
  }
  check(call.has_attribute("value_strings"), "no attribute says the value");
  TextArray texts;
  for (std::string_view text : call.texts("value_strings")) texts.elements.emplace_back(text);
  texts.shape = {static_cast<std::int64_t>(texts.elements.size())};
  return {std::move(texts)};
}

Results shape_op(const NodeCall& call) {
  const Shape shape = call.value(0).shape();
  const auto clipped = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + shape.size() : place, 0, shape.size());
  };
  const std::int64_t begin = clipped(call.integer("start", 0));
  const std::int64_t end = clipped(call.integer("end", shape.size()));
  Ints sizes;
  for (std::int64_t i = begin; i < end; i++) sizes.push_back(shape[i]);
  return {vector_of(sizes)};
}

Results size_op(const NodeCall& call) {
  return {Tensor::scalar(call.value(0).shape().numel(), {.dtype = DType::Int64})};
}

// clang-format off
constexpr Operator table[] = {
  {"Cast", 6, cast_op},
  {"CastLike", 15, cast_like},
  {"Constant", 1, constant},
  {"Identity", 1, [](const NodeCall& c) -> Results { return {c.has(0) ? c.value(0) : Value()}; }},
  {"Shape", 1, shape_op},
  {"Size", 1, size_op},
};
// clang-format on

}  // namespace

std::span<const Operator> type_operators() { return table; }

}  // namespace croze::onnx
