// builder.cpp -- what the expansions of float ops share.
#include <cmath>

#include "croze/base/error.h"
#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

constexpr Real float32{DType::Float32, DType::Int32, 23, 127};
constexpr Real float64{DType::Float64, DType::Int64, 52, 1023};

}  // namespace

const Real& Real::of(DType t) {
  ensure(t == DType::Float32 || t == DType::Float64, "decompose: no float arithmetic on {}",
         name_of(t));
  return t == DType::Float32 ? float32 : float64;
}

double Real::min_normal() const { return std::ldexp(1.0, 1 - bias); }

Builder::Builder(UOp x, const Caps& caps)
    : real_(Real::of(x.dtype())), graph_(x.graph()), caps_(caps) {}

UOp Builder::abs(UOp x) const { return from_bits(bits(x) & integer(max_value(real_.integer))); }

UOp Builder::opposite_abs(UOp x) const {
  return from_bits(bits(x) | integer(min_value(real_.integer)));
}

UOp Builder::sign_bit(UOp x) const { return bits(x) & integer(min_value(real_.integer)); }

UOp Builder::mul_add(UOp a, UOp b, UOp c) const {
  return has(Op::MulAdd) ? graph_.alu(Op::MulAdd, {a, b, c}) : a * b + c;
}

// Where the product is rounded, what it lacks is the sum of the products of halves (Dekker, "A
// floating-point technique for extending the available precision", 1971); the halves are cut from
// the bits.
UOp Builder::cancel(UOp a, UOp b, UOp c) const {
  if (has(Op::MulAdd)) return mul_add(a, b, c);
  const std::int64_t low = (std::int64_t{1} << ((real_.mantissa + 2) / 2)) - 1;
  const UOp a_high = from_bits(bits(a) & integer(~low)), a_low = a - a_high;
  const UOp b_high = from_bits(bits(b) & integer(~low)), b_low = b - b_high;
  const UOp product = a * b;
  const UOp crossed = (a_high * b_high - product) + a_high * b_low + a_low * b_high;
  return (product + c) + (crossed + a_low * b_low);
}

UOp Builder::trunc(UOp x) const {
  return has(Op::Trunc) ? graph_.alu(Op::Trunc, {x}) : expand::trunc(x, caps_);
}

UOp Builder::polynomial(UOp x, std::span<const double> coefficients) const {
  UOp sum = number(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) {
    sum = mul_add(sum, x, number(coefficients[i]));
  }
  return sum;
}

UOp Builder::at_least(UOp x, double lo) const {
  const UOp least = number(lo);
  return where(less(x, least), least, x);
}

UOp Builder::at_most(UOp x, double hi) const {
  const UOp most = number(hi);
  return where(less(most, x), most, x);
}

UOp Builder::clamp(UOp x, double lo, double hi) const { return at_most(at_least(x, lo), hi); }

UOp binary(Op op, UOp a, UOp b) { return a.graph().alu(op, {a, b}); }

UOp choose(UOp condition, UOp a, UOp b) {
  if (a == b || condition.bounds().is_point()) return condition.lo() ? a : b;
  return where(condition, a, b);
}

}  // namespace croze::expand
