// arithmetic.cpp -- float ops that nearly every device has, for one that does not.
#include <cmath>
#include <limits>

#include "croze/codegen/decompose/expand.h"

namespace croze::expand {

// Newton's method for r = 1 / sqrt(x) from a guess that halves the exponent, off by 2^-4.8.  A step
// turns an error e into 3/2 e^2: 2^-9.2, 2^-17.7, 2^-34.9, 2^-69, so that after three steps for
// Float32 and four for Float64 only roundings are left.  Then one correction of the root s = x r by
// its residue x - s^2, which a fused multiply-add gives exactly, leaves an error far below half a
// ulp before the last rounding.  That this is right for every Float32 is tried by a test: scaling
// by 4 is exact, so the numbers from 1 to 4 stand for all.
UOp sqrt(UOp x, const Caps& caps) {
  const Builder b(x, caps);
  const Real& real = b.real();
  const int up = 2 * (real.mantissa / 2 + 1);
  const UOp small = less(x, b.number(std::ldexp(real.min_normal(), up)));
  const UOp a = where(small, x * b.number(std::ldexp(1.0, up)), x);
  const UOp half = a * b.number(0.5), three_halves = b.number(1.5);

  const bool narrow = real.type == DType::Float32;
  const UOp magic = b.integer(narrow ? 0x5f375a86 : 0x5fe6eb50c7b537a9);
  UOp r = b.from_bits(magic - binary(Op::Shr, b.bits(a), b.integer(1)));
  for (int i = 0; i < (narrow ? 3 : 4); i++) r = r * b.mul_add(half * r, -r, three_halves);
  UOp s = a * r;
  s = b.mul_add(b.mul_add(-s, s, a), r * b.number(0.5), s);

  s = where(small, s * b.number(std::ldexp(1.0, -up / 2)), s);
  const UOp zero = b.number(0), infinity = b.number(std::numeric_limits<double>::infinity());
  const UOp nan = b.number(std::numeric_limits<double>::quiet_NaN());
  const UOp itself = equal(x, zero) | equal(x, infinity);  // -0 as well
  return where(itself, x, where(less(zero, x), s, nan));
}

// Through an integer, which keeps every number that has a fraction; the sign of -0.5 is kept as -0.
UOp trunc(UOp x, const Caps& caps) {
  const Builder b(x, caps);
  const UOp whole = cast(cast(x, b.real().integer), b.real().type);
  const UOp result = b.from_bits(b.bits(whole) | b.sign_bit(x));
  return where(less(b.abs(x), b.number(std::ldexp(1.0, b.real().mantissa))), result, x);
}

// NaN if either is; of two zeros the positive one is greater.
UOp maximum(UOp a, UOp b) {
  if (!is_float(a.dtype())) return where(less(b, a), a, b);
  // The sum of two zeros is negative only if both are.
  const UOp not_less = where(equal(a, 0), a + b, b);
  return where(less(b, a) | not_equal(a, a), a, not_less);
}

UOp minimum(UOp a, UOp b) {
  return is_float(a.dtype()) ? -maximum(-a, -b) : where(less(a, b), a, b);
}

}  // namespace croze::expand
