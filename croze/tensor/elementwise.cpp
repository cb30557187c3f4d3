// elementwise.cpp -- arithmetic, comparison, choice, rounding.  The maths is in maths.cpp.
#include "tensor/elementwise.h"

#include <cmath>
#include <limits>

#include "tensor/record.h"

namespace croze {
namespace {

Call call_of(std::string_view name, const Operand& a, const Operand& b) {
  if (a.is_scalar()) return Call(name, {&b.tensor()}, b.at());
  if (b.is_scalar()) return Call(name, {&a.tensor()}, a.at());
  return Call(name, {&a.tensor(), &b.tensor()}, a.at());
}

// Both operands cast to `dtype`, and the operation on them.
Tensor in_dtype(const Call& call, Op op, const Operand& a, const Operand& b, DType dtype) {
  return elementwise(call, op, operand_as(a, dtype), operand_as(b, dtype));
}

Tensor arithmetic(std::string_view name, Op op, Op on_bool, const Operand& a, const Operand& b) {
  const DType dtype = promoted({&a, &b});
  return in_dtype(call_of(name, a, b), dtype == DType::Bool ? on_bool : op, a, b, dtype);
}

Tensor comparison(std::string_view name, Op op, const Operand& a, const Operand& b) {
  return in_dtype(call_of(name, a, b), op, a, b, promoted({&a, &b}));
}

Tensor integral(std::string_view name, Op op, const Operand& a, const Operand& b, bool allow_bool) {
  const Call call = call_of(name, a, b);
  const DType dtype = promoted({&a, &b});
  call.require(!is_float(dtype), "works on integers, not on {}", name_of(dtype));
  call.require(allow_bool || dtype != DType::Bool, "works on integers, not on bool");
  return in_dtype(call, op, a, b, dtype);
}

DType float_of(DType t) { return is_float(t) ? t : DType::Float32; }

Tensor as_bool(const Operand& x) {
  const Tensor t = operand_as(x, promoted({&x}));
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
  const Call call = call_of("sub", a, b);
  const DType dtype = promoted({&a, &b});
  call.require(dtype != DType::Bool, "bool cannot be subtracted: use ^ or logical_not");
  return elementwise(call, Op::Add, operand_as(a, dtype),
                     elementwise(Op::Neg, operand_as(b, dtype)));
}

Tensor operator/(const Operand& a, const Operand& b) {
  return in_dtype(call_of("div", a, b), Op::Div, a, b, float_of(promoted({&a, &b})));
}

Tensor floor_divide(const Operand& a, const Operand& b) {
  const DType dtype = promoted({&a, &b});
  if (is_float(dtype)) return floor(a / b);
  const Call call = call_of("floor_divide", a, b);
  call.require(dtype != DType::Bool, "works on numbers, not on bool");
  return in_dtype(call, Op::IDiv, a, b, dtype);
}

Tensor remainder(const Operand& a, const Operand& b) {
  const Call call = call_of("remainder", a, b);
  const DType dtype = promoted({&a, &b});
  call.require(dtype != DType::Bool, "works on numbers, not on bool");
  if (!is_float(dtype)) return in_dtype(call, Op::Mod, a, b, dtype);
  const Tensor x = operand_as(a, dtype), y = operand_as(b, dtype);
  return x - floor_divide(x, y) * y;
}

Tensor operator%(const Operand& a, const Operand& b) { return remainder(a, b); }

Tensor operator-(const Tensor& x) { return x.neg(); }

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

Tensor lerp(const Operand& start, const Operand& end, const Operand& weight) {
  return start + weight * (end - start);
}

namespace {

// x * x * ... by squaring; exact for integers, which wrap.
Tensor integer_power(Tensor x, std::int64_t exponent) {
  Tensor result;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = result.defined() ? result * x : x;
    if (exponent > 1) x = x * x;
  }
  return result.defined() ? result : Tensor::ones_like(x);
}

}  // namespace

Tensor pow(const Operand& a, const Operand& b) {
  const Call call = call_of("pow", a, b);
  const DType dtype = promoted({&a, &b});
  if (!is_float(dtype)) {
    call.require(
        b.is_scalar() && b.scalar().integer() >= 0,
        "an integer takes an integer number >= 0 as exponent; cast it to a float for others");
    return integer_power(operand_as(a, dtype == DType::Bool ? DType::Int64 : dtype),
                         b.scalar().integer());
  }
  if (b.is_scalar()) {
    const double e = b.scalar().number();
    const Tensor x = operand_as(a, dtype);
    // Exponents that have a cheaper and more exact form.
    if (e == 2 || e == 3) return integer_power(x, static_cast<std::int64_t>(e));
    if (e == 1) return x;
    if (e == 0) return Tensor::ones_like(x);
    if (e == -1) return reciprocal(x);
    if (e == 0.5) return sqrt(x);
  }
  return in_dtype(call, Op::Pow, a, b, dtype);
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

Tensor operator~(const Tensor& x) { return x.bitwise_not(); }

Tensor Tensor::bitwise_not(Location at) const {
  const Call call("bitwise_not", {this}, at);
  call.require(!is_float(dtype()), "works on integers, not on {}", name_of(dtype()));
  return elementwise(Op::Not, *this);
}

Tensor logical_and(const Operand& a, const Operand& b) { return as_bool(a) & as_bool(b); }
Tensor logical_or(const Operand& a, const Operand& b) { return as_bool(a) | as_bool(b); }
Tensor logical_xor(const Operand& a, const Operand& b) { return as_bool(a) ^ as_bool(b); }
Tensor logical_not(const Tensor& x) { return elementwise(Op::Not, as_bool(x)); }
Tensor operator!(const Tensor& x) { return logical_not(x); }

// ---- comparison and choice --------------------------------------------------------------------

Tensor operator==(const Operand& a, const Operand& b) { return comparison("eq", Op::Eq, a, b); }
Tensor operator!=(const Operand& a, const Operand& b) { return comparison("ne", Op::Ne, a, b); }
Tensor operator<(const Operand& a, const Operand& b) { return comparison("lt", Op::Lt, a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return comparison("le", Op::Le, a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return comparison("gt", Op::Lt, b, a); }
Tensor operator>=(const Operand& a, const Operand& b) { return comparison("ge", Op::Le, b, a); }

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  const DType dtype = promoted({&a, &b});
  const Tensor c = as_bool(condition), x = operand_as(a, dtype), y = operand_as(b, dtype);
  return elementwise(Call("where", {&c, &x, &y}, condition.at()), Op::Where, c, x, y);
}

Tensor masked_fill(const Tensor& x, const Operand& mask, const Operand& value) {
  return where(mask, operand_as(value, x.dtype()), x);
}

Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high) {
  Tensor result = x;
  const auto bound = [&](double value) { return operand_as(Operand(value), x.dtype()); };
  if (high) result = where(x > *high, bound(*high), result);
  if (low) result = where(x < *low, bound(*low), result);
  return result;
}

// ---- signs and rounding -----------------------------------------------------------------------

// The form of each choice also fixes the gradient: 0 at 0, as in PyTorch.
Tensor abs(const Tensor& x) {
  if (is_unsigned(x.dtype())) return x;
  return where(x < 0, -x, where(x == 0, 0, x));
}

Tensor sign(const Tensor& x) {
  const Tensor one = operand_as(1, x.dtype());
  if (is_unsigned(x.dtype())) return where(x == 0, 0, one);
  return where(x > 0, one, where(x < 0, operand_as(-1, x.dtype()), 0));
}

Tensor square(const Tensor& x) { return x * x; }

Tensor trunc(const Tensor& x) { return is_float(x.dtype()) ? elementwise(Op::Trunc, x) : x; }

Tensor floor(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  const Tensor t = trunc(x);
  return where(x < t, t - 1, t);
}

Tensor ceil(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  const Tensor t = trunc(x);
  return where(t < x, t + 1, t);
}

Tensor round(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  const Tensor magnitude = abs(x);
  const Tensor below = trunc(magnitude);
  const Tensor rest = magnitude - below;  // exact
  const Tensor half = below * 0.5;
  const Tensor is_even = half == trunc(half);
  const Tensor stays = (rest < 0.5) | ((rest == 0.5) & is_even);
  const Tensor rounded = where(stays, below, below + 1);
  // Integers, infinities and NaN are themselves, and -0.3 rounds to -0.
  return where(x == trunc(x), x, where(x < 0, -rounded, rounded));
}

Tensor isnan(const Tensor& x) { return x != x; }

Tensor isinf(const Tensor& x) {
  if (!is_float(x.dtype())) return Tensor::zeros_like(x, {.dtype = DType::Bool});
  return abs(x) == std::numeric_limits<double>::infinity();
}

Tensor isfinite(const Tensor& x) {
  if (!is_float(x.dtype())) return Tensor::ones_like(x, {.dtype = DType::Bool});
  return abs(x) < std::numeric_limits<double>::infinity();
}

}  // namespace croze
