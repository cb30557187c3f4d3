// expand.h -- single ops written with simpler ones; shared by the files of this folder.
//
// Each function is given an op that the device lacks as its operands and returns a node of the same
// value.  Operands and results have a dtype that the device has arithmetic for.
#pragma once

#include <span>

#include "croze/base/half.h"
#include "croze/device/caps.h"
#include "croze/graph/graph.h"

namespace croze::expand {

// A float type as seen by the code that takes its numbers apart.
struct Real {
  DType type;
  DType integer;  // signed, of the same width
  int mantissa;   // bits, without the hidden one
  int bias;       // of the exponent

  static const Real& of(DType t);  // Float32 or Float64
  double min_normal() const;
};

// What expansions of float ops build with, beside the operators of uop.h.
class Builder {
 public:
  Builder(UOp x, const Caps& caps);

  const Real& real() const { return real_; }
  UOp number(double value) const { return graph_.constant(real_.type, value); }
  UOp integer(std::int64_t value) const { return graph_.constant(real_.integer, value); }
  UOp bits(UOp x) const { return graph_.bitcast(x, real_.integer); }
  UOp from_bits(UOp i) const { return graph_.bitcast(i, real_.type); }
  UOp abs(UOp x) const;                    // by clearing the sign bit
  UOp opposite_abs(UOp x) const;           // by setting it
  UOp sign_bit(UOp x) const;               // as an integer, all others zero
  UOp mul_add(UOp a, UOp b, UOp c) const;  // fused where the device can
  UOp mul_add(UOp a, double b, UOp c) const { return mul_add(a, number(b), c); }
  // a * b + c where c is about -a * b: what is left is exact, with or without a fused operation.
  UOp cancel(UOp a, UOp b, UOp c) const;
  UOp trunc(UOp x) const;
  UOp polynomial(UOp x, std::span<const double> coefficients) const;  // lowest power first
  UOp at_least(UOp x, double lo) const;                               // NaN stays
  UOp at_most(UOp x, double hi) const;                                // likewise
  UOp clamp(UOp x, double lo, double hi) const;                       // likewise
  bool has(Op op) const { return caps_.has_op(op); }

 private:
  const Real& real_;
  Graph& graph_;
  const Caps& caps_;
};

UOp binary(Op op, UOp a, UOp b);

// Where, decided at once if the condition is known.
UOp choose(UOp condition, UOp a, UOp b);

// transcendental.cpp: operand Float32 or Float64.
UOp exp(UOp x, const Caps& caps);
UOp exp2(UOp x, const Caps& caps);
UOp exp2_of_sum(const Builder& b, UOp x, UOp tail);  // 2^(x + tail), tail small beside x or 1
UOp log(UOp x, const Caps& caps);
UOp log2(UOp x, const Caps& caps);
UOp pow(UOp x, UOp y, const Caps& caps);  // power.cpp
UOp sin(UOp x, const Caps& caps);         // trigonometric.cpp
UOp cos(UOp x, const Caps& caps);
UOp sqrt(UOp x, const Caps& caps);  // arithmetic.cpp, with the next three
UOp trunc(UOp x, const Caps& caps);
UOp maximum(UOp a, UOp b);
UOp minimum(UOp a, UOp b);

// A finite number cut in exponent and mantissa: x = m * 2^e, sqrt(1/2) <= m < sqrt(2).  Both are
// floats.  Anything goes for x <= 0, infinity and NaN.
struct Parts {
  UOp mantissa, exponent;
};
Parts take_apart(const Builder& b, UOp x);

// integer.cpp: sized integers.
UOp floor_div(UOp x, UOp d);
UOp floor_mod(UOp x, UOp d);
UOp truncated_div(UOp x, UOp d);
UOp truncated_mod(UOp x, UOp d);
// The high word of the product of two UInt64.  With a0, a1 and b0, b1 the halves of the operands,
// what crosses the middle is (a0 b0 >> 32) + (low half of a0 b1) + a1 b0, which is less than 2^64:
// (2^32 - 2) + (2^32 - 1) + (2^32 - 1)^2.
UOp multiply_high(UOp a, UOp b);

// How naturals x <= most < 2^width are divided by d with numbers of `width` bits, where d is not a
// power of two and 2 < d <= most / 2.  With y = x >> before and high = floor(y * factor / 2^width),
//     floor(x / d) = high >> after,
//     floor(x / d) = (high + ((y - high) >> 1)) >> after    if the factor carries,
// that is, has a bit 2^width more than is stored.  The proof stands in integer.cpp.
struct DivisionPlan {
  int before = 0;
  std::uint64_t factor = 0;
  bool carries = false;
  int after = 0;
};
DivisionPlan plan_division(std::uint64_t d, std::uint64_t most, int width);

UOp shift_left(UOp x, UOp amount);
UOp shift_right(UOp x, UOp amount);
UOp threefry(UOp counter, UOp key);

// small_float.cpp: f16, bf16 and the fp8 types as the bits of an unsigned integer of their width.
const SmallFloat& format_of(DType small);
DType bits_type(DType small);                         // UInt8 or UInt16
UOp encode(DType small, UOp value);                   // Float32 -> bits, rounded to nearest even
UOp decode(DType small, UOp bits, const Caps& caps);  // bits -> Float32, exact
// A number as a Float32 that a second rounding, to fewer bits, cannot get wrong.
UOp to_odd_float(UOp x);

}  // namespace croze::expand
