// elementwise.cpp -- arithmetic, comparison, choice.  Division and powers are in division.cpp,
// rounding in rounding.cpp, the maths in maths.cpp.
#include "croze/tensor/elementwise/elementwise.h"

#include <cmath>
#include <limits>

#include "croze/tensor/record.h"

namespace croze {
namespace {

// The functions below hold the lock from their beginning: what they ask tensors for, and what they
// record, would take it again and again.

// Both operands cast to `dtype`, and the operation on them.
Tensor in_dtype(const Call& call, Op op, const Operand& a, const Operand& b, DType dtype) {
  return elementwise(call, op, operand_as(a, dtype), operand_as(b, dtype));
}

Tensor arithmetic(std::string_view name, Op op, Op on_bool, const Operand& a, const Operand& b) {
  const GraphLock lock;
  const Call call = call_of(name, a, b);
  const DType dtype = promoted({&a, &b});
  return in_dtype(call, dtype == DType::Bool ? on_bool : op, a, b, dtype);
}

Tensor comparison(std::string_view name, Op op, const Operand& a, const Operand& b) {
  const GraphLock lock;
  const Call call = call_of(name, a, b);
  return in_dtype(call, op, a, b, promoted({&a, &b}));
}

Tensor integral(std::string_view name, Op op, const Operand& a, const Operand& b, bool allow_bool) {
  const GraphLock lock;
  const Call call = call_of(name, a, b);
  const DType dtype = promoted({&a, &b});
  call.require(!is_float(dtype), "works on integers, not on {}", name_of(dtype));
  call.require(allow_bool || dtype != DType::Bool, "works on integers, not on bool");
  return in_dtype(call, op, a, b, dtype);
}

Tensor tensor_of(const Operand& x) {
  return x.is_scalar() ? operand_as(x, promoted({&x})) : x.tensor();
}

Tensor as_bool(const Operand& x) {
  const Tensor t = tensor_of(x);
  return t.dtype() == DType::Bool ? t : t != 0;
}

}  // namespace

// ---- arithmetic -------------------------------------------------------------------------------

Tensor operator+(const Operand& a, const Operand& b) {
  return arithmetic("add", Op::Add, Op::Or, a, b);
}

Tensor operator*(const Operand& a, const Operand& b) {
  return arithmetic("mul", Op::Mul, Op::And, a, b);
}

Tensor operator-(const Operand& a, const Operand& b) {
  const GraphLock lock;
  const Call call = call_of("sub", a, b);
  const DType dtype = promoted({&a, &b});
  call.require(dtype != DType::Bool, "bool cannot be subtracted: use ^ or logical_not");
  return elementwise(call, Op::Add, operand_as(a, dtype),
                     elementwise(Op::Neg, operand_as(b, dtype)));
}

namespace {

// A factor of 1 leaves bool a bool.
Operand times(const Operand& b, const Scalar& alpha) {
  if (alpha.kind() != DType::Float64 && alpha.integer() == 1) return b;
  return Operand(b * Operand(alpha, b.at()), b.at());
}

}  // namespace

Tensor add(const Operand& a, const Operand& b, Scalar alpha) {
  const CallScope scope("add", a.at());
  return a + times(b, alpha);
}

Tensor sub(const Operand& a, const Operand& b, Scalar alpha) {
  const CallScope scope("sub", a.at());
  return a - times(b, alpha);
}

Tensor addcmul(const Tensor& x, const Operand& a, const Operand& b, Scalar value) {
  const CallScope scope("addcmul", a.at());
  return x + a * b * value;
}

Tensor addcdiv(const Tensor& x, const Operand& a, const Operand& b, Scalar value) {
  const CallScope scope("addcdiv", a.at());
  return x + a / b * value;
}

Tensor operator/(const Operand& a, const Operand& b) {
  const GraphLock lock;
  const Call call = call_of("div", a, b);
  return in_dtype(call, Op::Div, a, b, float_of(promoted({&a, &b})));
}

Tensor operator%(const Operand& a, const Operand& b) { return remainder(a, b); }

Tensor operator-(const Operand& x) { return tensor_of(x).neg(x.at()); }

Tensor Tensor::neg(Location at) const {
  const Call call("neg", {this}, at);
  call.require(dtype() != DType::Bool, "bool cannot be negated: use logical_not");
  return elementwise(Op::Neg, *this);
}

Tensor maximum(const Operand& a, const Operand& b) {
  return arithmetic("maximum", Op::Max, Op::Or, a, b);
}

Tensor minimum(const Operand& a, const Operand& b) {
  return arithmetic("minimum", Op::Min, Op::And, a, b);
}

Tensor fmax(const Operand& a, const Operand& b) {
  const CallScope scope("fmax", a.at());
  const DType dtype = promoted({&a, &b});
  if (!is_float(dtype)) return maximum(a, b);
  const Tensor x = operand_as(a, dtype), y = operand_as(b, dtype);
  return where((x >= y) | isnan(y), x, y);
}

Tensor fmin(const Operand& a, const Operand& b) {
  const CallScope scope("fmin", a.at());
  const DType dtype = promoted({&a, &b});
  if (!is_float(dtype)) return minimum(a, b);
  const Tensor x = operand_as(a, dtype), y = operand_as(b, dtype);
  return where((x <= y) | isnan(y), x, y);
}

Tensor lerp(const Operand& start, const Operand& end, const Operand& weight) {
  const CallScope scope("lerp", start.at());
  const DType dtype = promoted({&start, &end, &weight}), wide = accumulator(dtype);
  const Tensor a = operand_as(start, wide), b = operand_as(end, wide), w = operand_as(weight, wide);
  const Call call("lerp", {&a, &b, &w}, start.at());
  call.require(is_float(dtype), "works on floats, not on {}", name_of(dtype));
  // From the nearer end, so that weights 0 and 1 give the ends themselves.
  const GraphLock lock;
  const Tensor gap = b - a;
  const auto from_start = [&] { return a + w * gap; };
  const auto from_end = [&] { return b - gap * (1 - w); };
  if (const UOp number = filling_of(w.node())) {
    return (std::abs(number.const_double()) < 0.5 ? from_start() : from_end()).cast(dtype);
  }
  return where(abs(w) < 0.5, from_start(), from_end()).cast(dtype);
}

// ---- bits and logic ---------------------------------------------------------------------------

Tensor operator&(const Operand& a, const Operand& b) {
  return integral("bitwise_and", Op::And, a, b, true);
}

Tensor operator|(const Operand& a, const Operand& b) {
  return integral("bitwise_or", Op::Or, a, b, true);
}

Tensor operator^(const Operand& a, const Operand& b) {
  return integral("bitwise_xor", Op::Xor, a, b, true);
}

Tensor operator<<(const Operand& a, const Operand& b) {
  return integral("lshift", Op::Shl, a, b, false);
}

Tensor operator>>(const Operand& a, const Operand& b) {
  return integral("rshift", Op::Shr, a, b, false);
}

Tensor operator~(const Operand& x) { return tensor_of(x).bitwise_not(x.at()); }

Tensor Tensor::bitwise_not(Location at) const {
  const Call call("bitwise_not", {this}, at);
  call.require(!is_float(dtype()), "works on integers, not on {}", name_of(dtype()));
  return elementwise(Op::Not, *this);
}

Tensor logical_and(const Operand& a, const Operand& b) {
  const CallScope scope("logical_and", a.at());
  return as_bool(a) & as_bool(b);
}

Tensor logical_or(const Operand& a, const Operand& b) {
  const CallScope scope("logical_or", a.at());
  return as_bool(a) | as_bool(b);
}

Tensor logical_xor(const Operand& a, const Operand& b) {
  const CallScope scope("logical_xor", a.at());
  return as_bool(a) ^ as_bool(b);
}

Tensor logical_not(const Tensor& x, Location at) {
  const CallScope scope("logical_not", at);
  return elementwise(Op::Not, as_bool(x));
}
Tensor operator!(const Operand& x) { return logical_not(tensor_of(x), x.at()); }

// ---- comparison and choice --------------------------------------------------------------------

Tensor operator==(const Operand& a, const Operand& b) { return comparison("eq", Op::Eq, a, b); }
Tensor operator!=(const Operand& a, const Operand& b) { return comparison("ne", Op::Ne, a, b); }
Tensor operator<(const Operand& a, const Operand& b) { return comparison("lt", Op::Lt, a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return comparison("le", Op::Le, a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return comparison("gt", Op::Lt, b, a); }
Tensor operator>=(const Operand& a, const Operand& b) { return comparison("ge", Op::Le, b, a); }

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  const GraphLock lock;
  const CallScope scope("where", condition.at());
  const DType dtype = promoted({&a, &b});
  const Tensor c = as_bool(condition), x = operand_as(a, dtype), y = operand_as(b, dtype);
  return elementwise(Call("where", {&c, &x, &y}, condition.at()), Op::Where, c, x, y);
}

Tensor masked_fill(const Tensor& x, const Operand& mask, const Operand& value) {
  const CallScope scope("masked_fill", mask.at());
  return where(mask, operand_as(value, x.dtype()), x);
}

Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high, Location at) {
  const CallScope scope("clamp", at);
  const auto has_fraction = [](std::optional<double> v) { return v && *v != std::floor(*v); };
  const bool widens = !is_float(x.dtype()) && (has_fraction(low) || has_fraction(high));
  const DType dtype = widens ? DType::Float32 : x.dtype();
  const auto bound = [&](double value) { return operand_as(Operand(value), dtype); };
  Tensor result = x.cast(dtype);
  if (low) result = where(result < bound(*low), bound(*low), result);
  if (high) result = where(result > bound(*high), bound(*high), result);
  return result;
}

Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high, Location at) {
  const CallScope scope("clamp", at);
  // A choice, and not maximum and minimum: on a bound the gradient is that of x alone.
  Tensor result = x;
  if (low.defined()) result = where((result < low) | isnan(low), low, result);
  if (high.defined()) result = where((result > high) | isnan(high), high, result);
  return result;
}

Tensor isclose(const Operand& a, const Operand& b, const Tolerance& tolerance) {
  const CallScope scope("isclose", a.at());
  const DType dtype = promoted({&a, &b});
  const Tensor x = operand_as(a, dtype), y = operand_as(b, dtype);
  const Call call("isclose", {&x, &y}, a.at());
  call.require(tolerance.relative >= 0 && tolerance.absolute >= 0,
               "tolerances {} and {} must not be negative", tolerance.relative, tolerance.absolute);
  const Tensor same = x == y;
  const Tensor u = as_float(x), v = as_float(y);
  const Tensor allowed = tolerance.absolute + tolerance.relative * abs(v);
  Tensor close = same | (isfinite(v) & (abs(u - v) <= allowed));
  if (tolerance.equal_nan) close = close | (isnan(u) & isnan(v));
  return close;
}

bool allclose(const Operand& a, const Operand& b, const Tolerance& tolerance) {
  const CallScope scope("allclose", a.at());
  return isclose(a, b, tolerance).all().item<bool>();
}

Tensor heaviside(const Tensor& x, const Operand& at_zero) {
  const CallScope scope("heaviside", at_zero.at());
  const Tensor step = (x > 0).cast(x.dtype());
  return where(x == 0, operand_as(at_zero, x.dtype()), step);
}

// ---- signs and rounding -----------------------------------------------------------------------

// The form of each choice also fixes the gradient: 0 at 0, as in PyTorch.
Tensor abs(const Tensor& x, Location at) {
  const CallScope scope("abs", at);
  if (is_unsigned(x.dtype())) return x;
  return where(x < 0, -x, where(x == 0, 0, x));
}

Tensor sign(const Tensor& x, Location at) {
  const CallScope scope("sign", at);
  if (is_unsigned(x.dtype())) return (x != 0).cast(x.dtype());
  const Tensor one = operand_as(1, x.dtype());
  return where(x > 0, one, where(x < 0, operand_as(-1, x.dtype()), 0));
}

Tensor square(const Tensor& x, Location at) {
  const CallScope scope("square", at);
  const Tensor number = x.dtype() == DType::Bool ? x.cast(DType::Int64) : x;
  return number * number;
}

Tensor isnan(const Tensor& x, Location at) {
  const CallScope scope("isnan", at);
  return x != x;
}

Tensor isinf(const Tensor& x, Location at) {
  const CallScope scope("isinf", at);
  if (!is_float(x.dtype())) return Tensor::zeros_like(x, {.dtype = DType::Bool});
  return abs(x) == std::numeric_limits<double>::infinity();
}

Tensor isfinite(const Tensor& x, Location at) {
  const CallScope scope("isfinite", at);
  if (!is_float(x.dtype())) return Tensor::ones_like(x, {.dtype = DType::Bool});
  return abs(x) < std::numeric_limits<double>::infinity();
}

Tensor isposinf(const Tensor& x, Location at) {
  const CallScope scope("isposinf", at);
  return isinf(x) & (x > 0);
}
Tensor isneginf(const Tensor& x, Location at) {
  const CallScope scope("isneginf", at);
  return isinf(x) & (x < 0);
}

}  // namespace croze
