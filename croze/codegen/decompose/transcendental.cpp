// transcendental.cpp -- exponentials and logarithms of Float32 and Float64.
//
// Exponentials.  x = n * step + r with step = 1 (exp2) or ln 2 (exp), n a whole number, |r| at most
// half a step; the result is 2^n * (1 + r * P(r)).  n is found by adding a number so large that the
// sum has no fraction bits: it lies rounded in the low bits of the sum, and shifted to the place of
// the exponent it is 2^n.  Since 2^n can overflow or be denormal where the result is neither, or
// can be rounded twice, the scaling is done in two factors of which the first is normal, or 0 where
// the result is far below the least number, as of all that a mask leaves out of a softmax: a
// product that underflows takes many times as long on x86-64.  Where the device has Op::Scale, that
// is all there is to it, but for a zero in place of what is far below.
//
// Logarithms.  x = 2^e * m with m around 1, f = m - 1 exact; the result is e * step + f * slope +
// f^2 * Q(f), summed from the small to the large so that only the last addition rounds visibly.
//
// The polynomials are minimax in relative error, found in 200 bits with the leading coefficients
// fixed to numbers of the type first; the errors of what stands here are beside them.
//
// Errors, in units of 2^-p with p bits of precision (multiply-adds fused).  Where 1 + r P(r) lies
// in [1/sqrt(2), 1), a unit is a ulp and |r P| <= 0.3: the rounding of P and its own error cost
// 0.32, the last multiply-add 0.5; above 1 a ulp is two units and |r P| <= 0.42.  For exp the
// rounding of r, at most 1/4, is added, times the result.  A logarithm with e = 0 is at most 0.35,
// where a ulp is half a unit, and its tail f - log(1 + f) is at most 0.07, with three roundings:
// 0.4 ulp, and 0.5 for the sum; with e != 0 the result is larger and the rest smaller beside it.
// Base 2 rounds the two parts of the slope as well.  Over all arguments the worst results in
// Float32 are off by 0.88 ulp (exp), 0.79 (exp2), 0.87 (log), 1.00 (log2): croze-bench ulp.
#include <array>
#include <cmath>
#include <limits>

#include "croze/codegen/decompose/domain.h"
#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- tables -----------------------------------------------------------------------------------

// ln 2 in two numbers.  The first is short, so that its product with an exponent is exact even
// where the device can not fuse it with a sum.
constexpr double ln2_hi32 = 0x1.62e4p-1, ln2_lo32 = 0x1.7f7d1cp-20;
constexpr double ln2_hi64 = 0x1.62e42fefa38p-1, ln2_lo64 = 0x1.ef35793c7673p-45;

struct Exponential {
  double steps;             // 1 / step
  double step_hi, step_lo;  // step, in two numbers
  double lowest, highest;   // from here on `scale` gives 0, or infinity, whatever the tail
  std::span<const double> p;
};

// clang-format off
constexpr std::array exp2_p32 = {  // 2^-28.3
    0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7cp-5, 0x1.3b2de0p-7, 0x1.5f082cp-10, 0x1.416c04p-13};
constexpr std::array exp_p32 = {  // 2^-28.2
    0x1p+0, 0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b0p-5, 0x1.12398ep-7, 0x1.6a4dd6p-10};
constexpr std::array exp2_p64 = {  // 2^-57.8
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d704a0d3p-5, 0x1.3b2ab6fba1209p-7,
    0x1.5d87fe78b40eep-10, 0x1.4309130bfb788p-13, 0x1.ffcbfbf6cbc74p-17, 0x1.62bfcdee808bbp-20,
    0x1.b526123c964afp-24, 0x1.e6118341d6e58p-28, 0x1.e8077d0d99e21p-32};
constexpr std::array exp_p64 = {  // 2^-57.9
    0x1p+0, 0x1.000000000000ap-1, 0x1.5555555555509p-3, 0x1.555555555075bp-5,
    0x1.1111111124f9dp-7, 0x1.6c16c1844cd30p-10, 0x1.a01a0135f531fp-13, 0x1.a01999d141306p-16,
    0x1.71df104c7dba7p-19, 0x1.28ad9920723bbp-22, 0x1.ad9b4e2437287p-26};

constexpr Exponential exp2_32{1, 1, 0, -153, 129, exp2_p32};
constexpr Exponential exp2_64{1, 1, 0, -1078, 1025, exp2_p64};
constexpr Exponential exp_32{0x1.715476p+0, ln2_hi32, ln2_lo32, -106, 89, exp_p32};
constexpr Exponential exp_64{0x1.71547652b82fep+0, ln2_hi64, ln2_lo64, -748, 710, exp_p64};

struct Logarithm {
  double step_hi, step_lo;    // the logarithm of 2
  double slope_hi, slope_lo;  // of the logarithm at 1
  std::span<const double> q;
};

constexpr std::array log_q32 = {  // 2^-27.8
    -0x1.fffff8p-2, 0x1.55554ep-2,  -0x1.000410p-2, 0x1.99a67cp-3, -0x1.542fb0p-3,
    0x1.2238d4p-3,  -0x1.0eaf1ep-3, 0x1.09a170p-3,  -0x1.3e51ccp-4};
constexpr std::array log2_q32 = {  // 2^-27.2
    -0x1.715472p-1, 0x1.ec7086p-2,  -0x1.7159c4p-2, 0x1.2781e0p-2, -0x1.eadd78p-3,
    0x1.a28bd6p-3,  -0x1.85df7cp-3, 0x1.7fc0b6p-3,  -0x1.cee9b8p-4};
constexpr std::array log_q64 = {  // 2^-57.6
    -0x1p-1, 0x1.555555555556ep-2, -0x1.ffffffffffeeap-3, 0x1.999999999453ep-3,
    -0x1.5555555563c95p-3, 0x1.2492492794aaap-3, -0x1.fffffff96d7fap-4, 0x1.c71c701a3d002p-4,
    -0x1.9999997815a66p-4, 0x1.745d5a5502ee0p-4, -0x1.555598a052b80p-4, 0x1.3b0d7a199c049p-4,
    -0x1.248702ec6c5d8p-4, 0x1.1167b075defecp-4, -0x1.00e631acb2253p-4, 0x1.dceab18f91d6ap-5,
    -0x1.b38381a4ca99fp-5, 0x1.b93985f386972p-5, -0x1.016f886efb4e0p-4, 0x1.d9bd2e0e4e0f5p-5,
    -0x1.989cae6d95744p-6};
constexpr std::array log2_q64 = {  // 2^-57.8
    -0x1.71547652b82fep-1, 0x1.ec709dc3a041ep-2, -0x1.71547652b826fp-2, 0x1.2776c50ef624ep-2,
    -0x1.ec709dc3b2112p-3, 0x1.a61762abdeec1p-3, -0x1.7154764e934dbp-3, 0x1.484b12a9fc278p-3,
    -0x1.2776c4e802ae7p-3, 0x1.0c9ab41903dbbp-3, -0x1.ec70fff0cd2b1p-4, 0x1.c6867e1c741ecp-4,
    -0x1.a60728837da22p-4, 0x1.8a6f60a8fe53dp-4, -0x1.729f3b9d74743p-4, 0x1.580d4a574777fp-4,
    -0x1.3a346cd0aee69p-4, 0x1.3e34554a957f9p-4, -0x1.733ad7e567226p-4, 0x1.55bb8bb4d9bd3p-4,
    -0x1.26fb1a41f6816p-5};

constexpr Logarithm log_32{ln2_hi32, ln2_lo32, 1, 0, log_q32};
constexpr Logarithm log_64{ln2_hi64, ln2_lo64, 1, 0, log_q64};
constexpr Logarithm log2_32{1, 0, 0x1.715476p+0, 0x1.4ae0c0p-26, log2_q32};
constexpr Logarithm log2_64{1, 0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, log2_q64};
// clang-format on

// ---- exponentials -----------------------------------------------------------------------------

// step^(x + tail); tail may be null.  Without Op::Scale the exponent n lies in the low bits of
// `shifted`, plus its bias.  Where 2^n is normal for all arguments it is one factor.  Else there
// are two: for negative n 2^(n + up) and 2^-up, else 2^(n-2) and 4.  With p bits of mantissa up is
// p + 2: 2^(n + up) is normal for all n > -bias - up, and y * 2^n is less than half of the least
// number from there on, where an exponent of 0 or less becomes 0.
UOp exponential(const Builder& b, const Exponential& table, UOp x, UOp tail) {
  const Real& real = b.real();
  const Domain domain = domain_of(x);
  const bool is_normal =
      domain.lo * table.steps >= 1 - real.bias && domain.hi * table.steps <= real.bias;
  const bool falls = domain.hi <= 0, scales = b.has(Op::Scale);
  const int up = real.mantissa + 2;

  if (x.is(Op::Neg)) {
    if (const UOp y = argument_of_magnitude(x.src(0))) x = b.opposite_abs(y);  // 0 has either sign
  }
  const bool may_vanish = domain.lo < table.lowest;
  if (may_vanish && !scales) x = b.at_least(x, table.lowest);
  if (domain.hi > table.highest) x = b.at_most(x, table.highest);
  const int bias = scales ? 0 : real.bias + (falls && !is_normal ? up : 0);
  const UOp shift = b.number(std::ldexp(1.5, real.mantissa) + bias);
  const UOp shifted = table.steps == 1 ? x + shift : b.mul_add(x, table.steps, shift);
  const UOp n = shifted - shift;
  UOp r = table.step_hi == 1 ? x - n : b.mul_add(n, -table.step_hi, x);
  if (table.step_lo != 0) r = b.mul_add(n, -table.step_lo, r);
  if (tail) r = r + tail;
  const UOp y = b.mul_add(r, b.polynomial(r, table.p), b.number(1));
  if (scales) {
    const UOp result = binary(Op::Scale, y, n);
    return may_vanish ? where(less(x, b.number(table.lowest)), b.number(0), result) : result;
  }

  const UOp exponent = binary(Op::Shl, b.bits(shifted), b.integer(real.mantissa));
  const auto times_power = [&](UOp e) {
    return y * b.from_bits(is_normal ? e : where(less(e, b.integer(0)), b.integer(0), e));
  };
  const UOp down = b.number(std::ldexp(1.0, -up));
  if (is_normal) return times_power(exponent);
  if (falls) return times_power(exponent) * down;
  const UOp is_negative = less(x, b.number(0));
  const std::int64_t one = std::int64_t{1} << real.mantissa;
  const UOp adjust = where(is_negative, b.integer(up * one), b.integer(-2 * one));
  return times_power(exponent + adjust) * where(is_negative, down, b.number(4));
}

// ---- logarithms -------------------------------------------------------------------------------

bool is_normal_number(const Builder& b, const Domain& d) {
  return !d.may_be_nan && d.lo >= b.real().min_normal() && d.hi < infinity;
}

UOp logarithm(const Builder& b, const Logarithm& table, UOp x) {
  const auto [m, e] = take_apart(b, x);
  const UOp f = m - b.number(1);
  UOp tail = f * f * b.polynomial(f, table.q);
  if (table.slope_lo != 0) tail = b.mul_add(f, table.slope_lo, tail);
  if (table.step_lo != 0) tail = b.mul_add(e, table.step_lo, tail);
  UOp y = table.slope_hi == 1 ? f + tail : b.mul_add(f, table.slope_hi, tail);
  y = table.step_hi == 1 ? e + y : b.mul_add(e, table.step_hi, y);
  if (is_normal_number(b, domain_of(x))) return y;

  const UOp zero = b.number(0);
  const UOp positive = where(less(x, b.number(infinity)), y, x);
  const UOp other = where(equal(x, zero), b.number(-infinity), b.number(nan));
  return where(less(zero, x), positive, other);
}

template <typename Table>
const Table& of_type(UOp x, const Table& float32, const Table& float64) {
  return x.dtype() == DType::Float32 ? float32 : float64;
}

}  // namespace

Parts take_apart(const Builder& b, UOp x) {
  const Real& real = b.real();
  const int up = real.mantissa + 1;
  const bool is_normal = domain_of(x).lo >= real.min_normal();
  const UOp small = less(x, b.number(real.min_normal()));
  const UOp i = b.bits(is_normal ? x : where(small, x * b.number(std::ldexp(1.0, up)), x));
  const UOp root_half = b.bits(b.number(std::sqrt(0.5)));
  const UOp above = i - root_half;
  const UOp fraction = above & b.integer((std::int64_t{1} << real.mantissa) - 1);
  const UOp e =
      cast(cast(binary(Op::Shr, above, b.integer(real.mantissa)), DType::Int32), real.type);
  return {b.from_bits(fraction + root_half),
          is_normal ? e : e + where(small, b.number(-up), b.number(0))};
}

UOp exp(UOp x, const Caps& caps) {
  return exponential(Builder(x, caps), of_type(x, exp_32, exp_64), x, {});
}

UOp exp2(UOp x, const Caps& caps) {
  return exponential(Builder(x, caps), of_type(x, exp2_32, exp2_64), x, {});
}

UOp exp2_of_sum(const Builder& b, UOp x, UOp tail) {
  return exponential(b, of_type(x, exp2_32, exp2_64), x, tail);
}

UOp log(UOp x, const Caps& caps) {
  return logarithm(Builder(x, caps), of_type(x, log_32, log_64), x);
}

UOp log2(UOp x, const Caps& caps) {
  return logarithm(Builder(x, caps), of_type(x, log2_32, log2_64), x);
}

}  // namespace croze::expand
