// generator.cpp -- tensors from nothing: constants of a shape, ranges, random numbers.
#include <cmath>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

Results constant_of_shape(const NodeCall& call) {
  const Shape shape(call.integers(0));
  if (!call.has_attribute("value")) return {Tensor::zeros(shape)};
  const Value value = call.constant("value");
  check(value.tensor().numel() == 1, "a value of {} elements", value.tensor().numel());
  // A number that the compiler sees, not one in memory.
  const Tensor& one = value.tensor();
  const Scalar number =
      is_float(one.dtype()) ? Scalar(one.item<double>()) : Scalar(one.item<std::int64_t>());
  return {{Tensor::full(shape, number, {.dtype = one.dtype()}), value.element_type()}};
}

Results range(const NodeCall& call) {
  const DType dtype = call[0].dtype();
  if (is_float(dtype)) {
    const double begin = call.number(0), end = call.number(1), step = call.number(2);
    check(step != 0, "a step of 0");
    const double count = std::max(0.0, std::ceil((end - begin) / step));
    check(count <= 1e12, "a range of {} numbers", count);
    const Tensor index = Tensor::arange(static_cast<std::int64_t>(count)).cast(DType::Float64);
    return {(begin + index * step).cast(dtype)};
  }
  const std::int64_t step = call.integer(2);
  check(step != 0, "a step of 0");
  return {Tensor::arange(call.integer(0), call.integer(1), step, {.dtype = dtype})};
}

Results eye_like(const NodeCall& call) {
  const Tensor& x = call[0];
  check(x.ndim() == 2, "a tensor of {} axes", x.ndim());
  const DType dtype = call.has_attribute("dtype")
                          ? dtype_of(static_cast<ElementType>(call.integer("dtype", 0)))
                          : x.dtype();
  const Tensor rows = Tensor::arange(x.size(0)).unsqueeze(1), columns = Tensor::arange(x.size(1));
  return {(rows + call.integer("k", 0) == columns).cast(dtype)};
}

// ---- random numbers: no two systems draw the same ---------------------------------------------

DType random_dtype(const NodeCall& call, DType missing) {
  return call.has_attribute("dtype") ? dtype_of(static_cast<ElementType>(call.integer("dtype", 0)))
                                     : missing;
}

Tensor normal_numbers(const NodeCall& call, const Shape& shape, DType dtype) {
  const Tensor x = Tensor::randn(shape, {.dtype = DType::Float32});
  return (x * call.real("scale", 1) + call.real("mean", 0)).cast(dtype);
}

Tensor uniform_numbers(const NodeCall& call, const Shape& shape, DType dtype) {
  return Tensor::uniform(shape, call.real("low", 0), call.real("high", 1), {.dtype = dtype});
}

template <Tensor (*draw)(const NodeCall&, const Shape&, DType)>
Results random(const NodeCall& call) {
  return {draw(call, Shape(call.integers("shape")), random_dtype(call, DType::Float32))};
}

template <Tensor (*draw)(const NodeCall&, const Shape&, DType)>
Results random_like(const NodeCall& call) {
  return {draw(call, call[0].shape(), random_dtype(call, call[0].dtype()))};
}

Results bernoulli(const NodeCall& call) {
  const Tensor drawn = Tensor::rand(call[0].shape(), {.dtype = DType::Float32});
  return {(drawn < call[0].cast(DType::Float32)).cast(random_dtype(call, call[0].dtype()))};
}

// Classes drawn from unnormalised log probabilities: the greatest of them plus Gumbel noise.
Results multinomial(const NodeCall& call) {
  const Tensor logits = call[0].cast(DType::Float32);
  const std::int64_t samples = call.integer("sample_size", 1);
  const Tensor drawn = Tensor::rand({logits.size(0), samples, logits.size(1)});
  const Tensor noise = -log(-log(maximum(drawn, 1e-20)));
  return {argmax(logits.unsqueeze(1) + noise, -1).cast(random_dtype(call, DType::Int32))};
}

// The ratio became an input, and training explicit, in opset 12.
Results dropout_op(const NodeCall& call) {
  const Tensor& x = call[0];
  const bool training = call.version() >= 12 && call.has(2) && call.integer(2) != 0;
  const double ratio = call.version() < 12 ? call.real("ratio", 0.5)
                       : call.has(1)       ? call.number(1)
                                           : 0.5;
  const DType mask_dtype = call.version() < 10 ? x.dtype() : DType::Bool;
  if (!training || ratio == 0) return {x, Tensor::ones(x.shape(), {.dtype = mask_dtype})};
  check(ratio > 0 && ratio < 1, "a ratio of {}", ratio);
  const Tensor kept = Tensor::rand(x.shape()) >= ratio;
  return {where(kept, x / (1 - ratio), 0).cast(x.dtype()), kept.cast(mask_dtype)};
}

// clang-format off
constexpr Operator table[] = {
  {"Bernoulli", 15, bernoulli},
  {"ConstantOfShape", 9, constant_of_shape},
  {"Dropout", 1, dropout_op},
  {"EyeLike", 9, eye_like},
  {"Multinomial", 7, multinomial},
  {"RandomNormal", 1, random<normal_numbers>},
  {"RandomNormalLike", 1, random_like<normal_numbers>},
  {"RandomUniform", 1, random<uniform_numbers>},
  {"RandomUniformLike", 1, random_like<uniform_numbers>},
  {"Range", 11, range},
};
// clang-format on

}  // namespace

std::span<const Operator> generator_operators() { return table; }

}  // namespace croze::onnx
