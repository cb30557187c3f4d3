// activation.cpp -- activation functions, softmax and its kin.
#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// Calls `f` with x, in Float32 if it is a half type.
template <typename F>
Results wide(const NodeCall& call, F f) {
  return {in_float32(call[0], f)};
}

Results celu_op(const NodeCall& call) { return {celu(call[0], call.real("alpha", 1))}; }

Results elu_op(const NodeCall& call) { return {elu(call[0], call.real("alpha", 1))}; }

Results gelu_op(const NodeCall& call) {
  const bool tanh_form = call.text("approximate", "none") == "tanh";
  return {gelu(call[0], tanh_form ? Gelu::Tanh : Gelu::Erf)};
}

Results hard_sigmoid(const NodeCall& call) {
  const double alpha = call.real("alpha", static_cast<double>(0.2f)), beta = call.real("beta", 0.5);
  return wide(call, [&](const Tensor& x) { return clamp(alpha * x + beta, 0, 1); });
}

Results leaky_relu_op(const NodeCall& call) {
  return {leaky_relu(call[0], call.real("alpha", static_cast<double>(0.01f)))};
}

// The slope has the shape of x without its first axes, or, before opset 7, one number a channel.
Results prelu_op(const NodeCall& call) {
  const Tensor& x = call[0];
  Tensor slope = call[1];
  if (call.version() < 7 && slope.ndim() == 1 && x.ndim() > 1 && slope.numel() == x.size(1)) {
    slope = along_axis(slope, 1, x.ndim());
  }
  return {where(x < 0, x * slope, x)};
}

Results selu_op(const NodeCall& call) {
  const double alpha = call.real("alpha", 1.67326319217681884765625);
  const double gamma = call.real("gamma", 1.05070102214813232421875);
  return wide(
      call, [&](const Tensor& x) { return gamma * where(x > 0, x, alpha * expm1(minimum(x, 0))); });
}

Results shrink_op(const NodeCall& call) {
  const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5);
  const Tensor& x = call[0];
  const Tensor result = where(x < -lambda, x + bias, where(x > lambda, x - bias, 0));
  return {result.cast(x.dtype())};
}

Results swish(const NodeCall& call) {
  const double alpha = call.real("alpha", 1);
  return wide(call, [&](const Tensor& x) { return x * sigmoid(alpha * x); });
}

Results thresholded_relu(const NodeCall& call) {
  return {where(call[0] > call.real("alpha", 1), call[0], 0)};
}

// ---- over an axis -----------------------------------------------------------------------------

// Before opset 13 the axes from `axis` on count as one.
template <typename F>
Results over_axis(const NodeCall& call, F f) {
  const Tensor& x = call[0];
  const std::int64_t missing = call.version() < 13 ? 1 : -1;
  const std::int64_t given = call.integer("axis", missing);
  if (call.version() >= 13) return {f(x, checked_axis(given, x.ndim()))};
  const std::int64_t axis = given == x.ndim() ? given : checked_axis(given, x.ndim());
  std::int64_t rows = 1;
  for (int i = 0; i < axis; i++) rows *= x.size(i);
  const std::int64_t columns = rows == 0 ? 0 : x.numel() / rows;
  return {f(x.reshape({rows, columns}), 1).reshape(x.shape())};
}

// One where the first greatest element stands.
Tensor hardmax_along(const Tensor& x, std::int64_t axis) {
  const Tensor best = argmax(x, axis, true);
  const Tensor positions = along_axis(Tensor::arange(x.size(axis)), axis, x.ndim());
  return (positions == best).cast(x.dtype());
}

Results softmax_op(const NodeCall& call) {
  return over_axis(call, [](const Tensor& x, std::int64_t axis) { return softmax(x, axis); });
}

Results log_softmax_op(const NodeCall& call) {
  return over_axis(call, [](const Tensor& x, std::int64_t axis) { return log_softmax(x, axis); });
}

Results hardmax(const NodeCall& call) { return over_axis(call, hardmax_along); }

// clang-format off
constexpr Operator table[] = {
  {"Celu", 12, celu_op},
  {"Elu", 1, elu_op},
  {"Gelu", 20, gelu_op},
  {"HardSigmoid", 1, hard_sigmoid},
  {"HardSwish", 14, [](const NodeCall& c) -> Results { return {hardswish(c[0])}; }},
  {"Hardmax", 1, hardmax},
  {"LeakyRelu", 1, leaky_relu_op},
  {"LogSoftmax", 1, log_softmax_op},
  {"Mish", 18, [](const NodeCall& c) -> Results { return {mish(c[0])}; }},
  {"PRelu", 1, prelu_op},
  {"Relu", 1, [](const NodeCall& c) -> Results { return {relu(c[0])}; }},
  {"Selu", 1, selu_op},
  {"Shrink", 9, shrink_op},
  {"Sigmoid", 1, [](const NodeCall& c) -> Results { return {sigmoid(c[0])}; }},
  {"Softmax", 1, softmax_op},
  {"Softplus", 1, [](const NodeCall& c) -> Results { return {softplus(c[0])}; }},
  {"Softsign", 1, [](const NodeCall& c) -> Results { return {softsign(c[0])}; }},
  {"Swish", 24, swish},
  {"ThresholdedRelu", 10, thresholded_relu},
};
// clang-format on

}  // namespace

std::span<const Operator> activation_operators() { return table; }

}  // namespace croze::onnx
