// elementwise.h -- functions that work on each element alone.
//
// Operands are tensors or numbers.  Shapes are broadcast as in PyTorch: aligned at the last axis,
// size 1 (or a missing axis) repeats.  Dtypes are promoted by the lattice of dtype.h; a number
// takes part with its kind only (int8 + 1 is int8, float16 * 2.0 is float16, int32 + 2.5 is
// Float32), and so does a tensor without axes beside one with axes.
//
// All binary functions throw Error if shapes do not broadcast, dtypes are not allowed, or devices
// differ.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// ---- arithmetic --------------------------------------------------------------------------------

// On Bool: + is or, * is and, - is an Error.  Integers wrap.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
// True division: of two integers it gives Float32.
Tensor operator/(const Operand& a, const Operand& b);
// The sign of the divisor, as in Python.  Integers: x % 0 is x.
Tensor operator%(const Operand& a, const Operand& b);
Tensor operator-(const Operand& x);

// a + alpha * b and a - alpha * b.
Tensor add(const Operand& a, const Operand& b, Scalar alpha = 1);
Tensor sub(const Operand& a, const Operand& b, Scalar alpha = 1);
// The quotient as it is (a float), rounded towards zero, or rounded down (integers stay integers).
enum class Rounding { None, Trunc, Floor };
Tensor div(const Operand& a, const Operand& b, Rounding rounding = Rounding::None);
// Rounded down.  Integers: x / 0 is 0.
Tensor floor_divide(const Operand& a, const Operand& b);
// The exact rest of a division: with the sign of the divisor, and with that of the dividend.
Tensor remainder(const Operand& a, const Operand& b);
Tensor fmod(const Operand& a, const Operand& b);
// x + value * a * b and x + value * a / b.
Tensor addcmul(const Tensor& x, const Operand& a, const Operand& b, Scalar value = 1);
Tensor addcdiv(const Tensor& x, const Operand& a, const Operand& b, Scalar value = 1);
// a to the power b.  Integers: wraps, and is 0 for b < 0 unless a is 1 or -1; a negative number as
// exponent is an Error.
Tensor pow(const Operand& a, const Operand& b);
// The same in Float64.
Tensor float_power(const Operand& a, const Operand& b);
// Greatest common divisor and least common multiple of integers.
Tensor gcd(const Operand& a, const Operand& b);
Tensor lcm(const Operand& a, const Operand& b);
// NaN if either is NaN.  Where equal, the gradient is shared.
Tensor maximum(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);
// The other one if one of them is NaN.  Where equal, the gradient is that of a.
Tensor fmax(const Operand& a, const Operand& b);
Tensor fmin(const Operand& a, const Operand& b);
// start + weight * (end - start).  Floats.
Tensor lerp(const Operand& start, const Operand& end, const Operand& weight);

// ---- bits and logic ----------------------------------------------------------------------------

// Integers and Bool.
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator~(const Operand& x);
// Integers.  Shifts by the width or more give 0 (>> of a negative: -1).
Tensor operator<<(const Operand& a, const Operand& b);
Tensor operator>>(const Operand& a, const Operand& b);

// Bool results; any operand counts as true where it is not zero.
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_xor(const Operand& a, const Operand& b);
Tensor logical_not(const Tensor& x, Location at = Location::current());
Tensor operator!(const Operand& x);

// ---- comparison and choice ---------------------------------------------------------------------

// Bool results.  Any comparison with NaN is false, but != is true.
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

// a where the condition (any dtype) is not zero, else b.
Tensor where(const Operand& condition, const Operand& a, const Operand& b);
// x with `value` where the mask is not zero; dtype of x.
Tensor masked_fill(const Tensor& x, const Operand& mask, const Operand& value);
// x limited to [low, high]; a missing bound does not limit.  NaN stays.  Dtype of x, or Float32 if
// x is integral and a bound has a fraction.
Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high = {},
             Location at = Location::current());
// The same with bounds for each element: minimum(maximum(x, low), high).  An undefined bound does
// not limit.
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high,
             Location at = Location::current());
// Whether |a - b| <= absolute + relative * |b|, element by element, and for all (which computes
// it).
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;
};
Tensor isclose(const Operand& a, const Operand& b, const Tolerance& tolerance = {});
bool allclose(const Operand& a, const Operand& b, const Tolerance& tolerance = {});
// 0 below zero, 1 above, `at_zero` at zero.
Tensor heaviside(const Tensor& x, const Operand& at_zero);

// ---- signs and rounding: dtype of x ------------------------------------------------------------

Tensor abs(const Tensor& x, Location at = Location::current());
// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& x, Location at = Location::current());
Tensor square(const Tensor& x, Location at = Location::current());  // Int64 of Bool
Tensor floor(const Tensor& x, Location at = Location::current());
Tensor ceil(const Tensor& x, Location at = Location::current());
// Halves to even; to a number of decimals (negative: to tens, hundreds, ...).
Tensor round(const Tensor& x, Location at = Location::current());
Tensor round(const Tensor& x, std::int64_t decimals, Location at = Location::current());
Tensor trunc(const Tensor& x, Location at = Location::current());
// What trunc cuts off.
Tensor frac(const Tensor& x, Location at = Location::current());
// |a| with the sign of b (a float).
Tensor copysign(const Operand& a, const Operand& b);
// The next number after a in the direction of b (a float).
Tensor nextafter(const Operand& a, const Operand& b);
// NaN and the infinities replaced; by the greatest and the least number if not said.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> positive = {},
                  std::optional<double> negative = {}, Location at = Location::current());
// Bool results.
Tensor isnan(const Tensor& x, Location at = Location::current());
Tensor isinf(const Tensor& x, Location at = Location::current());
Tensor isfinite(const Tensor& x, Location at = Location::current());
Tensor isposinf(const Tensor& x, Location at = Location::current());
Tensor isneginf(const Tensor& x, Location at = Location::current());
// Whether the sign bit is set: of -0 too.
Tensor signbit(const Tensor& x, Location at = Location::current());

// ---- maths: float results (integers are taken as Float32) --------------------------------------

// exp, exp2, log, log2, sin, cos, tanh and sqrt are within 1 ulp of the truth for every Float32 and
// Float64 on a device that fuses multiply-adds.  The others are composed so that
// they are accurate to a few ulp over their whole range.  All have finite gradients wherever the
// derivative is finite, and compute half types in Float32.
Tensor reciprocal(const Tensor& x, Location at = Location::current());
Tensor sqrt(const Tensor& x, Location at = Location::current());
Tensor rsqrt(const Tensor& x, Location at = Location::current());
Tensor exp(const Tensor& x, Location at = Location::current());
Tensor exp2(const Tensor& x, Location at = Location::current());
Tensor expm1(const Tensor& x, Location at = Location::current());
Tensor log(const Tensor& x, Location at = Location::current());
Tensor log2(const Tensor& x, Location at = Location::current());
Tensor log10(const Tensor& x, Location at = Location::current());
Tensor log1p(const Tensor& x, Location at = Location::current());
Tensor sin(const Tensor& x, Location at = Location::current());
Tensor cos(const Tensor& x, Location at = Location::current());
Tensor tan(const Tensor& x, Location at = Location::current());
Tensor asin(const Tensor& x, Location at = Location::current());
Tensor acos(const Tensor& x, Location at = Location::current());
Tensor atan(const Tensor& x, Location at = Location::current());
Tensor sinh(const Tensor& x, Location at = Location::current());
Tensor cosh(const Tensor& x, Location at = Location::current());
Tensor tanh(const Tensor& x, Location at = Location::current());
Tensor asinh(const Tensor& x, Location at = Location::current());
Tensor acosh(const Tensor& x, Location at = Location::current());
Tensor atanh(const Tensor& x, Location at = Location::current());
// The angle of the point (x, y), in [-pi, pi]; the length of (a, b), without overflow.
Tensor atan2(const Operand& y, const Operand& x);
Tensor hypot(const Operand& a, const Operand& b);
// log(exp(a) + exp(b)), log2(2^a + 2^b), without overflow.
Tensor logaddexp(const Operand& a, const Operand& b);
Tensor logaddexp2(const Operand& a, const Operand& b);
Tensor deg2rad(const Tensor& x, Location at = Location::current());
Tensor rad2deg(const Tensor& x, Location at = Location::current());

}  // namespace croze
