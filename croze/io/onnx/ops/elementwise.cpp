// elementwise.cpp -- arithmetic, comparison, logic and maths on each element.
#include <cmath>

#include "io/onnx/ops/ops.h"
#include "io/onnx/ops/texts.h"

namespace croze::onnx {
namespace {

// ---- two operands -----------------------------------------------------------------------------

// Before opset 7 the second operand stood at an axis of the first, said by attributes.
Tensor second_operand(const NodeCall& call) {
  const Tensor b = call[1];
  if (call.version() >= 7 || !call.has_attribute("axis")) return b;
  const int rank = call[0].ndim();
  const std::int64_t axis = checked_axis(call.integer("axis", 0), rank);
  check(axis + b.ndim() <= rank, "axis {} leaves no room for {} axes", axis, b.ndim());
  Shape shape = b.shape();
  while (axis + shape.size() < rank) shape.push_back(1);
  return b.reshape(shape);
}

template <Tensor (*f)(const Operand&, const Operand&)>
Results binary(const NodeCall& call) {
  return {f(call[0], second_operand(call))};
}

template <Tensor (*f)(const Tensor&)>
Results unary(const NodeCall& call) {
  return {f(call[0])};
}

Results div_op(const NodeCall& call) { return {divide(call[0], second_operand(call))}; }

Results mod(const NodeCall& call) {
  const Tensor &a = call[0], &b = call[1];
  if (!call.flag("fmod")) return {remainder(a, b)};
  // The sign of the dividend.
  if (is_unsigned(a.dtype())) return {a % b};
  if (!is_float(a.dtype())) return {a - divide(a, b) * b};
  const Tensor magnitude = remainder(abs(a), abs(b));
  return {where(a < 0, -magnitude, magnitude)};
}

// Integers by squaring, in the dtype of the base; an exponent of 64 and more overflows anyway
// unless the base is -1, 0 or 1, for which only its parity counts.
Tensor integer_power(const Tensor& base, const Tensor& exponent) {
  const Tensor wide = exponent.cast(DType::Int64);
  const Tensor bits = where(wide > 63, 62 + (wide & 1), wide);
  Tensor result = Tensor::ones_like(base), square = base;
  for (int k = 0; k < 6; k++) {
    if (k > 0) square = square * square;
    result = where(((bits >> k) & 1) != 0, result * square, result);
  }
  return where(wide < 0, divide(Tensor::ones_like(base), base), result);
}

Results power(const NodeCall& call) {
  const Tensor &base = call[0], exponent = second_operand(call);
  const DType dtype = base.dtype();
  if (is_integral(dtype) && is_integral(exponent.dtype())) return {integer_power(base, exponent)};
  if (is_float(dtype)) return {pow(base, exponent.cast(dtype))};
  return {pow(base.cast(exponent.dtype()), exponent).cast(dtype)};
}

Results shift(const NodeCall& call) {
  const std::string_view direction = call.text("direction", "");
  check(direction == "LEFT" || direction == "RIGHT", "direction \"{}\"", direction);
  return {direction == "LEFT" ? call[0] << call[1] : call[0] >> call[1]};
}

Results equal(const NodeCall& call) {
  if (call.value(0).kind() == Value::Kind::Texts) {
    return {texts_equal(call.value(0).texts(), call.value(1).texts())};
  }
  return {call[0] == second_operand(call)};
}

// ---- any number of operands -------------------------------------------------------------------

template <Tensor (*f)(const Operand&, const Operand&)>
Results folded(const NodeCall& call) {
  Tensor result = call[0];
  for (int i = 1; i < call.num_inputs(); i++) result = f(result, call[i]);
  return {result};
}

Results mean_of_operands(const NodeCall& call) {
  return {folded<operator+>(call)[0].tensor() / call.num_inputs()};
}

// ---- one operand ------------------------------------------------------------------------------

Tensor asinh_of(const Tensor& x) {
  // log(|x| + sqrt(x^2 + 1)) without cancellation near 0.
  const Tensor a = abs(x);
  const Tensor result = log1p(a + a * a / (1 + sqrt(a * a + 1)));
  return where(x < 0, -result, result);
}

Tensor acosh_of(const Tensor& x) {
  const Tensor t = x - 1;
  return log1p(t + sqrt(t * (t + 2)));
}

Tensor atanh_of(const Tensor& x) { return 0.5 * log1p(2 * x / (1 - x)); }

template <Tensor (*f)(const Tensor&)>
Results in_wide(const NodeCall& call) {
  return {in_float32(call[0], f)};
}

Results is_infinite(const NodeCall& call) {
  const Tensor& x = call[0];
  const bool negative = call.flag("detect_negative", true);
  const bool positive = call.flag("detect_positive", true);
  return {logical_and(isinf(x), logical_or(logical_and(negative, x < 0),
                                           logical_and(positive, x > 0)))};
}

// Bounds are attributes before opset 11.
Results clip(const NodeCall& call) {
  Tensor x = call[0];
  const DType dtype = x.dtype();
  if (call.version() < 11) {
    if (call.has_attribute("min")) x = maximum(x, call.real("min", 0));
    if (call.has_attribute("max")) x = minimum(x, call.real("max", 0));
    return {x.cast(dtype)};
  }
  if (call.has(1)) x = maximum(x, call[1]);
  if (call.has(2)) x = minimum(x, call[2]);
  return {x};
}

// clang-format off
constexpr Operator table[] = {
  {"Abs", 1, unary<abs>},
  {"Acos", 7, unary<acos>},
  {"Acosh", 9, in_wide<acosh_of>},
  {"Add", 1, binary<operator+>},
  {"And", 1, binary<logical_and>},
  {"Asin", 7, unary<asin>},
  {"Asinh", 9, in_wide<asinh_of>},
  {"Atan", 7, unary<atan>},
  {"Atanh", 9, in_wide<atanh_of>},
  {"BitShift", 11, shift},
  {"BitwiseAnd", 18, binary<operator&>},
  {"BitwiseNot", 18, unary<operator~>},
  {"BitwiseOr", 18, binary<operator|>},
  {"BitwiseXor", 18, binary<operator^>},
  {"Ceil", 1, unary<ceil>},
  {"Clip", 1, clip},
  {"Cos", 7, unary<cos>},
  {"Cosh", 9, unary<cosh>},
  {"Div", 1, div_op},
  {"Equal", 1, equal},
  {"Erf", 9, unary<erf>},
  {"Exp", 1, unary<exp>},
  {"Floor", 1, unary<floor>},
  {"Greater", 1, binary<operator> >},
  {"GreaterOrEqual", 12, binary<operator>=>},
  {"IsInf", 10, is_infinite},
  {"IsNaN", 9, unary<isnan>},
  {"Less", 1, binary<operator< >},
  {"LessOrEqual", 12, binary<operator<=>},
  {"Log", 1, unary<log>},
  {"Max", 1, folded<maximum>},
  {"Mean", 1, mean_of_operands},
  {"Min", 1, folded<minimum>},
  {"Mod", 10, mod},
  {"Mul", 1, binary<operator*>},
  {"Neg", 1, unary<operator->},
  {"Not", 1, unary<logical_not>},
  {"Or", 1, binary<logical_or>},
  {"Pow", 1, power},
  {"Reciprocal", 1, unary<reciprocal>},
  {"Round", 11, unary<round>},
  {"Sign", 9, unary<sign>},
  {"Sin", 7, unary<sin>},
  {"Sinh", 9, unary<sinh>},
  {"Sqrt", 1, unary<sqrt>},
  {"Sub", 1, binary<operator->},
  {"Sum", 1, folded<operator+>},
  {"Tan", 7, unary<tan>},
  {"Tanh", 1, unary<tanh>},
  {"Where", 9, [](const NodeCall& c) -> Results { return {where(c[0], c[1], c[2])}; }},
  {"Xor", 1, binary<logical_xor>},
};
// clang-format on

}  // namespace

std::span<const Operator> elementwise_operators() { return table; }

}  // namespace croze::onnx
