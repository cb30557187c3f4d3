// elementwise.cpp -- arithmetic, comparison, logic and maths on each element.
#include "croze/io/onnx/ops/ops.h"
#include "croze/io/onnx/ops/texts.h"

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

template <Tensor (*f)(const Tensor&, Location)>
Results unary(const NodeCall& call) {
  return {f(call[0], Location::current())};
}

Results negate(const NodeCall& call) { return {-call[0]}; }
Results bitwise_not_op(const NodeCall& call) { return {~call[0]}; }
Results div_op(const NodeCall& call) { return {divide(call[0], second_operand(call))}; }

Results mod(const NodeCall& call) {
  return {call.flag("fmod") ? fmod(call[0], call[1]) : remainder(call[0], call[1])};
}

// The result has the dtype of the base.
Results power(const NodeCall& call) {
  const Tensor& base = call[0];
  const Tensor exponent = second_operand(call);
  if (is_float(base.dtype())) return {pow(base, exponent.cast(base.dtype()))};
  return {pow(base, exponent).cast(base.dtype())};
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
  return {folded < operator+>(call)[0].tensor() / call.num_inputs()};
}

// ---- one operand ------------------------------------------------------------------------------

Results is_infinite(const NodeCall& call) {
  const Tensor& x = call[0];
  const bool negative = call.flag("detect_negative", true);
  const bool positive = call.flag("detect_positive", true);
  return {logical_and(isinf(x),
                      logical_or(logical_and(negative, x < 0), logical_and(positive, x > 0)))};
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
  {"Acosh", 9, unary<acosh>},
  {"Add", 1, binary<operator+>},
  {"And", 1, binary<logical_and>},
  {"Asin", 7, unary<asin>},
  {"Asinh", 9, unary<asinh>},
  {"Atan", 7, unary<atan>},
  {"Atanh", 9, unary<atanh>},
  {"BitShift", 11, shift},
  {"BitwiseAnd", 18, binary<operator&>},
  {"BitwiseNot", 18, bitwise_not_op},
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
  {"GreaterOrEqual", 12, binary<operator>= >},
  {"IsInf", 10, is_infinite},
  {"IsNaN", 9, unary<isnan>},
  {"Less", 1, binary<operator< >},
  {"LessOrEqual", 12, binary<operator<= >},
  {"Log", 1, unary<log>},
  {"Max", 1, folded<maximum>},
  {"Mean", 1, mean_of_operands},
  {"Min", 1, folded<minimum>},
  {"Mod", 10, mod},
  {"Mul", 1, binary<operator*>},
  {"Neg", 1, negate},
  {"Not", 1, unary<logical_not>},
  {"Or", 1, binary<logical_or>},
  {"Pow", 1, power},
  {"Reciprocal", 1, unary<reciprocal>},
  {"Round", 11, unary<round>},
  {"Sign", 9, unary<sign>},
  {"Sin", 7, unary<sin>},
  {"Sinh", 9, unary<sinh>},
  {"Sqrt", 1, unary<sqrt>},
  {"Sub", 1, binary<operator- >},
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
