// power.cpp -- x to the power y for Float32 and Float64.
//
// x^y = 2^(y * log2 |x|), and then the sign.  The error of the logarithm is multiplied by up to a
// thousand, so the logarithm and the product are carried in two numbers, head and tail, of which
// the head is the sum rounded.  With s = f / (2 + f), f = m - 1,
//   log2 m = s * (k1 + s^2 * (k3 + s^2 * Q(s^2))),    k1 = 2 / ln 2,    k3 = k1 / 3,
// where only Q, which is small beside k3, is a single number.
//
// The error: the relative error of the logarithm, 2^-35.3 in Float32 and 2^-72 in Float64, is
// multiplied by |y log2 x|, which is below 150 and 1075 where the result is neither zero nor
// infinite, and by ln 2: 2^-28.6 and 2^-62 of the result.  Roundings in the tails are of that size
// too.  So the result is as good as that of exp2, to a tenth of a ulp: within 1 ulp.
//
// Special values are those of C99: x^0 = 1^y = 1 even for NaN; a negative finite x has a power only
// if y is whole, and it is negative if y is odd; +-inf to +-inf as the limits say, with (-1)^inf
// = 1.
#include <array>
#include <limits>

#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Tables {
  double k1_hi, k1_lo, k3_hi, k3_lo;
  std::span<const double> q;
  double huge;   // a power of two whose product with any log2 |x| but 0 is beyond `limit`
  double limit;  // 2^limit is infinity, 2^-limit is zero
};

// clang-format off
constexpr std::array q32 = {0x1.27770ep-1, 0x1.a5bb52p-2, 0x1.59fc40p-2};  // 2^-35.3
constexpr std::array q64 = {  // 2^-72.0
    0x1.2776c50ef9bfcp-1, 0x1.a61762a7aefbfp-2, 0x1.484b13d695387p-2, 0x1.0c9a8544ae6c0p-2,
    0x1.c68ee4d44ad5cp-3, 0x1.8a0a53d10c4cfp-3, 0x1.58f19b5d34dd3p-3, 0x1.624621f0532e7p-3};
constexpr Tables tables32{0x1.715476p+1, 0x1.4ae0c0p-25, 0x1.ec709ep-1, -0x1.e2fe02p-28, q32,
                          0x1p+100, 200};
constexpr Tables tables64{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55, 0x1.ec709dc3a03fdp-1,
                          0x1.d27f05548af0cp-55, q64, 0x1p+900, 1200};
// clang-format on

// A sum of two numbers, the head being the sum rounded.
struct Pair {
  UOp head, tail;
};

// a + (b + tail) for |a| >= |b| or a = 0.
Pair add_ordered(UOp a, UOp b, UOp tail) {
  const UOp head = a + b;
  return {head, (b - (head - a)) + tail};
}

Pair multiply(const Builder& b, Pair x, Pair y) {
  const UOp head = x.head * y.head;
  const UOp error = b.cancel(x.head, y.head, -head);
  return {head, b.mul_add(x.head, y.tail, b.mul_add(x.tail, y.head, error))};
}

// f / (m + 1).
Pair quotient(const Builder& b, UOp f, UOp m) {
  const UOp one = b.number(1);
  const UOp sum = m + one, lost = m - (sum - one);
  const UOp inverse = one / sum;
  const UOp head = f * inverse;
  const UOp rest = b.mul_add(-head, lost, b.cancel(-head, sum, f));
  return {head, rest * inverse};
}

Pair log2_in_two(const Builder& b, const Tables& tables, UOp a) {
  const auto [m, e] = take_apart(b, a);
  const Pair s = quotient(b, m - b.number(1), m);
  const Pair z = multiply(b, s, s);
  const UOp q = b.mul_add(z.head, b.polynomial(z.head, tables.q), b.number(tables.k3_lo));
  const Pair k3 = add_ordered(b.number(tables.k3_hi), q, b.number(0));
  const Pair term = multiply(b, z, k3);
  const Pair factor =
      add_ordered(b.number(tables.k1_hi), term.head, term.tail + b.number(tables.k1_lo));
  const Pair log_m = multiply(b, s, factor);
  return add_ordered(e, log_m.head, log_m.tail);
}

// |x|^y.
UOp magnitude(const Builder& b, const Tables& tables, UOp a, UOp y) {
  Pair log = log2_in_two(b, tables, a);
  log.head = where(equal(a, b.number(0)), b.number(-infinity), log.head);
  log.head = where(less(a, b.number(infinity)), log.head, a);  // infinity or NaN
  // An infinite y stands for a huge one, so that its product with log2 1 is 0.
  const UOp bounded = b.clamp(y, -tables.huge, tables.huge);
  const UOp product = bounded * log.head;
  const UOp rest = b.mul_add(bounded, log.tail, b.cancel(bounded, log.head, -product));
  const UOp inside = less(b.abs(product), b.number(tables.limit));
  return exp2_of_sum(b, product, where(inside, rest, b.number(0)));
}

// The sign bit of x where y is odd and NaN where x has no such power.
UOp with_sign(const Builder& b, UOp x, UOp y, UOp result) {
  const UOp zero = b.number(0), half = y * b.number(0.5);
  const UOp whole = equal(b.trunc(y), y);
  const UOp odd = whole & not_equal(b.trunc(half), half);
  const UOp sign = where(odd, b.sign_bit(x), b.integer(0));
  const UOp is_signed = b.from_bits(b.bits(result) | sign);
  const UOp undefined = less(x, zero) & logical_not(whole) & less(b.number(-infinity), x);
  return where(undefined, b.number(std::numeric_limits<double>::quiet_NaN()), is_signed);
}

}  // namespace

UOp pow(UOp x, UOp y, const Caps& caps) {
  const Builder b(x, caps);
  const Tables& tables = x.dtype() == DType::Float32 ? tables32 : tables64;
  const UOp one = b.number(1);
  const UOp result = with_sign(b, x, y, magnitude(b, tables, b.abs(x), y));
  return choose(equal(y, b.number(0)) | equal(x, one), one, result);
}

}  // namespace croze::expand
