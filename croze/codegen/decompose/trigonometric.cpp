// trigonometric.cpp -- sine and cosine of Float32 and Float64, for arguments of every size.
//
// The hard part is the remainder of x by pi/2: for x = 2^100 the quotient has a hundred bits, of
// which only the last two matter, and a float product has none of them.  Payne and Hanek (1983): x
// is an integer m times 2^e, so that the bits of 2/pi that lie far before the point of x * 2/pi
// give multiples of 4 and those far behind it are too small to matter.  What remains is an integer
// product of m with a window of a few words of 2/pi, whose place is known from e: two bits of
// quadrant and a fraction that is good to more bits than the float has, however near to 0 it is.
//
// Moderate arguments have another way (Cody and Waite, 1980): the quotient q is a float, and pi/2
// is taken from x in three parts.  Both ways are written down and chosen between; that the long one
// is jumped over where no lane wants it is the affair of lower/rare_work.h.  The first part of pi/2
// has all bits of a float, and what q times it leaves of x is exact: it is a multiple of the last
// bit of the part, or x is below 1.  The second one has as many bits less than a float as q has, so
// that q times it is a float and what rounding the next difference loses can be had back.  The
// parts together are right to 2^-63 and 2^-150, which q times is not seen in any remainder.
//
// Is the window long enough?  The number nearest to a multiple of pi/2 is 2^-29.2 away from it
// among Float32 (16367173 * 2^72) and 2^-60.9 among Float64 (6381956970095103 * 2^797; Muller,
// Elementary Functions, ch. 11).  The angle is right to 2^-60 and 2^-124, so that of the worst
// remainder 31 and 63 bits are right.
//
// The remainder is a float r and a small correction, so that its rounding is not seen in the
// result: over all arguments the worst in Float32 is off by 0.84 ulp.
#include <array>
#include <cmath>
#include <limits>

#include "croze/base/small_vector.h"
#include "croze/codegen/decompose/domain.h"
#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

// 2/pi after the point, behind a word of zeros.
constexpr std::array<std::uint64_t, 20> two_over_pi = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

struct Tables {
  std::span<const double> s;  // sin(r) = r + r^3 * s(r^2) for |r| <= pi/4
  std::span<const double> c;  // cos(r) = 1 - r^2 / 2 + r^4 * c(r^2)
  double unit_hi, unit_lo;    // pi/2 * 2^-64: the angle of a unit of the fraction
  double parts[3];            // of pi/2, each less than what is left
  double inverse;             // 2/pi
};

constexpr double moderate = 4096;  // a quotient below has 12 bits

// clang-format off
constexpr std::array s32 = {  // 2^-28.0
    -0x1.555546p-3, 0x1.110756p-7, -0x1.994b40p-13};
constexpr std::array c32 = {  // 2^-33.0
    0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e86ep-16};
constexpr std::array s64 = {  // 2^-58.0
    -0x1.5555555555549p-3, 0x1.111111110f842p-7,  -0x1.a01a019c0a2a2p-13,
    0x1.71de3570fce36p-19, -0x1.ae5e60c35bba5p-26, 0x1.5d915d91506b2p-33};
constexpr std::array c64 = {  // 2^-63.9
    0x1.555555555554bp-5, -0x1.6c16c16c14f48p-10, 0x1.a01a019c7cf13p-16,
    -0x1.27e4f7e54d0c4p-22, 0x1.1ee9d3e55674fp-29, -0x1.8fa294e87b046p-37};
// clang-format on

constexpr Tables tables32{s32,
                          c32,
                          0x1.921fb6p-64,
                          -0x1.777a5cp-89,
                          {0x1.921fb4p+0, 0x1.444p-24, 0x1.68c234p-39},
                          0x1.45f306p-1};
constexpr Tables tables64{s64,
                          c64,
                          0x1.921fb54442d18p-64,
                          0x1.1a62633145c07p-118,
                          {0x1.921fb54442d18p+0, 0x1.1a62633145p-54, 0x1.80dc1cd129025p-95},
                          0x1.45f306dc9c883p-1};

// x = (quadrant + fraction) * pi/2 with |fraction| <= 1/2; r + correction is fraction * pi/2.
struct Remainder {
  UOp quadrant;  // an integer, right modulo 4
  UOp r, correction;
};

UOp word(UOp x, std::uint64_t value) {
  return x.graph().constant(DType::UInt64, static_cast<std::int64_t>(value));
}
UOp shl(UOp x, UOp by) { return binary(Op::Shl, x, by); }
UOp shr(UOp x, UOp by) { return binary(Op::Shr, x, by); }
UOp shl(UOp x, int by) { return shl(x, constant_like(x, by)); }
UOp shr(UOp x, int by) { return shr(x, constant_like(x, by)); }

using Words = SmallVector<UOp, 20>;

// The first `count` words of 2/pi from bit `position` (a UInt64).  The words are moved up by 16, 8,
// 4, 2 and 1 as the number of the first says, keeping no more of them than the next moves can need;
// the bits inside a word come last.  `limit` is a power of two above the number of the first.
Words window(UOp position, int count, int limit) {
  Words words;
  for (std::uint64_t w : two_over_pi) words.push_back(word(position, w));
  for (int step = limit / 2; step >= 1; step /= 2) {
    const UOp move = not_equal(position & word(position, static_cast<std::uint64_t>(step) * 64),
                               word(position, 0));
    Words moved;
    for (int i = 0; i < count + step && i < words.size(); i++) {
      moved.push_back(i + step < words.size() ? where(move, words[i + step], words[i]) : words[i]);
    }
    words = moved;
  }
  const UOp up = position & word(position, 63);
  const UOp down = word(position, 63) - up;
  Words result;
  for (int i = 0; i < count; i++) {
    result.push_back(shl(words[i], up) | shr(shr(words[i + 1], 1), down));
  }
  return result;
}

// A fixed-point angle: hi + lo / 2^64 in units of 2^-64 quadrants.  lo may be null.
Remainder remainder_of(const Builder& b, const Tables& tables, UOp quadrant, UOp hi, UOp lo) {
  const DType t = b.real().type;
  const UOp head = cast(hi, t);
  UOp rest = cast(hi - cast(head, DType::Int64), t);
  if (lo) rest = b.mul_add(cast(lo, t), 0x1p-64, rest);
  const UOp unit = b.number(tables.unit_hi);
  const UOp r = head * unit;
  const UOp error = b.mul_add(head, tables.unit_lo, b.mul_add(head, unit, -r));
  return {cast(quadrant, b.real().integer), r, b.mul_add(rest, unit, error)};
}

// Of a >= 1/2, finite.
Remainder reduce(const Builder& b, const Tables& tables, UOp a) {
  const Real& real = b.real();
  const std::int64_t one = std::int64_t{1} << real.mantissa;
  const UOp i = b.bits(a);
  const UOp m = cast((i & b.integer(one - 1)) | b.integer(one), DType::UInt64);
  // a = m * 2^e.  The bit of 2/pi that makes a 2 of the product is number e - 1 after the point.
  const std::int64_t e_plus_field = -(real.bias + real.mantissa);
  const UOp field = binary(Op::Shr, i, b.integer(real.mantissa));
  const UOp position = cast(field + b.integer(64 + e_plus_field - 2), DType::UInt64);

  const UOp half = word(a, std::uint64_t{1} << 61);  // of a quadrant
  if (real.type == DType::Float32) {
    const Words w = window(position, 2, 4);
    const UOp product = m * w[0] + shr(m * shr(w[1], 32), 32);
    const UOp fraction = a.graph().bitcast(shl(product, 2), DType::Int64);
    return remainder_of(b, tables, shr(product + half, 62), fraction, {});
  }
  const Words w = window(position, 3, 32);
  const UOp low_part = m * w[1];
  const UOp low = low_part + multiply_high(m, w[2]);
  const UOp carry = cast(less(low, low_part), DType::UInt64);
  const UOp high = m * w[0] + multiply_high(m, w[1]) + carry;
  const UOp fraction = a.graph().bitcast(shl(high, 2) | shr(low, 62), DType::Int64);
  return remainder_of(b, tables, shr(high + half, 62), fraction, shl(low, 2));
}

// Of 0 <= a < moderate.
Remainder reduce_moderate(const Builder& b, const Tables& tables, UOp a) {
  const Real& real = b.real();
  const UOp shift = b.number(std::ldexp(1.5, real.mantissa));
  const UOp shifted = b.mul_add(a, tables.inverse, shift);
  const UOp q = shifted - shift;
  const UOp rest = b.cancel(q, b.number(-tables.parts[0]), a);
  const UOp r = b.mul_add(q, -tables.parts[1], rest);
  const UOp lost = b.mul_add(q, -tables.parts[1], rest - r);  // by rounding of r
  return {b.bits(shifted), r, b.mul_add(q, -tables.parts[2], lost)};
}

// Of a >= 0 of any size.
Remainder reduce_any(const Builder& b, const Tables& tables, UOp a) {
  const UOp infinity = b.number(std::numeric_limits<double>::infinity());
  const UOp nan = b.number(std::numeric_limits<double>::quiet_NaN());
  const Remainder near = reduce_moderate(b, tables, a), far = reduce(b, tables, a);
  const UOp is_near = less(a, b.number(moderate));
  return {where(is_near, near.quadrant, far.quadrant),
          where(is_near, near.r, where(less(a, infinity), far.r, nan)),
          where(is_near, near.correction, far.correction)};
}

// sin(x) if `quarter` is 0, sin(x + pi/2) if it is 1.
UOp sine(const Builder& b, const Tables& tables, UOp x, int quarter) {
  const Real& real = b.real();
  const Domain domain = domain_of(x);
  const bool is_moderate = !domain.may_be_nan && -moderate < domain.lo && domain.hi < moderate;
  const UOp a = b.abs(x);
  const auto [quadrant, r, lo] =
      is_moderate ? reduce_moderate(b, tables, a) : reduce_any(b, tables, a);
  const UOp n = quadrant + b.integer(quarter);

  // sin(r + lo) = sin(r) + lo * cos(r) and cos(r + lo) = cos(r) - lo * r, nearly.
  const UOp z = r * r;
  const UOp head = b.mul_add(z, -0.5, b.number(1));
  const UOp sin_r = r + b.mul_add(r, z * b.polynomial(z, tables.s), lo * head);
  const UOp lost = b.mul_add(z, -0.5, b.mul_add(head, -1, b.number(1)));  // by rounding of head
  const UOp tail = b.mul_add(-r, lo, lost);
  const UOp cos_r = head + b.mul_add(z * z, b.polynomial(z, tables.c), tail);

  const UOp y = where(equal(n & b.integer(1), b.integer(0)), sin_r, cos_r);
  const std::int64_t to_sign = 8 * size_of(real.type) - 2;
  UOp flip = binary(Op::Shl, n & b.integer(2), b.integer(to_sign));
  if (quarter == 0) flip = binary(Op::Xor, flip, b.sign_bit(x));
  return b.from_bits(binary(Op::Xor, b.bits(y), flip));
}

UOp sine(UOp x, int quarter, const Caps& caps) {
  return sine(Builder(x, caps), x.dtype() == DType::Float32 ? tables32 : tables64, x, quarter);
}

}  // namespace

UOp sin(UOp x, const Caps& caps) { return sine(x, 0, caps); }
UOp cos(UOp x, const Caps& caps) { return sine(x, 1, caps); }

}  // namespace croze::expand
