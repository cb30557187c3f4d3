// bounds.cpp -- derived: the interval and the divisibility of integral nodes.
//
// The interval of a result is computed exactly, in 128 bits, from the intervals of the operands at
// their corners.  If it does not fit the type, a sized integer may wrap and gets the bounds of its
// type; an Index is a mathematical integer and saturates.  A UInt64 whose upper bound is the
// largest int64 has no known upper bound.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "croze/graph/analysis/derive.h"
#include "croze/graph/analysis/interval.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Wide = __int128;

constexpr i64 largest = INT64_MAX;
constexpr Wide two_to_64 = Wide{1} << 64;

bool fits(const Interval& x, DType t) {
  const Interval all = whole(t);
  return x.lo >= all.lo && x.hi <= all.hi;
}

i64 saturated(Wide v) { return static_cast<i64>(std::clamp<Wide>(v, INT64_MIN, INT64_MAX)); }

// Wrapping keeps only powers of two as divisors.
Interval wrapped(const Interval& x, DType t) {
  Interval all = whole(t);
  all.multiple = std::max<i64>(x.multiple & -x.multiple, 1);
  if (size_of(t) < 8) all.multiple = std::min(all.multiple, i64{1} << (8 * size_of(t)));
  return all;
}

// The same values with bounds that they can reach: multiples of what divides them all.
Bounds with_divisible_ends(Bounds b) {
  if (b.multiple <= 1 || b.lo == b.hi) return b;
  const i64 m = b.multiple, below = b.lo % m, above = b.hi % m;
  const Wide lo = Wide{b.lo} - below + (below > 0 ? m : 0);
  const Wide hi = Wide{b.hi} - above - (above < 0 ? m : 0);
  if (b.lo > INT64_MIN && lo <= hi) b.lo = static_cast<i64>(lo);
  if (b.hi < INT64_MAX && lo <= hi) b.hi = static_cast<i64>(hi);
  return b;
}

// The bounds kept in the node.
Bounds settle(Interval x, DType t) {
  if (t == DType::Bool) {
    const bool lo = x.lo > 0 || x.hi < 0, hi = x.lo != 0 || x.hi != 0;
    return {lo, hi, lo == hi && !lo ? 0 : 1};
  }
  if (t != DType::Index && !fits(x, t)) x = wrapped(x, t);
  if (t == DType::UInt64 && x.hi >= largest) {
    return {saturated(std::min<Wide>(x.lo, largest - 1)), largest, std::max<i64>(x.multiple, 1)};
  }
  Bounds b{saturated(x.lo), saturated(x.hi), x.multiple};
  if (b.lo == b.hi) {
    b.multiple = b.lo == INT64_MIN ? 1 : std::abs(b.lo);
  } else if (b.multiple == 0) {
    b = {0, 0, 0};
  }
  return with_divisible_ends(b);
}

i64 gcd(i64 a, i64 b) { return std::gcd(a, b); }

i64 product_or(i64 a, i64 b, i64 otherwise) {
  i64 r;
  return __builtin_mul_overflow(a, b, &r) ? otherwise : r;
}

Interval join(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), gcd(a.multiple, b.multiple)};
}

Interval corners(Wide a, Wide b, Wide c, Wide d, i64 multiple) {
  return {std::min({a, b, c, d}), std::max({a, b, c, d}), multiple};
}

Wide truncated_div(Wide a, Wide b) {
  if (a > INT64_MIN && a <= INT64_MAX && b == static_cast<i64>(b)) {
    return static_cast<i64>(a) / static_cast<i64>(b);  // many times faster than in 128 bits
  }
  return a / b;
}

Wide floor_div(Wide a, Wide b) {
  const Wide q = truncated_div(a, b);
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

// ---- arithmetic -------------------------------------------------------------------------------

Interval add(const Interval& a, const Interval& b) {
  return {a.lo + b.lo, a.hi + b.hi, gcd(a.multiple, b.multiple)};
}

Interval multiply(const Interval& a, const Interval& b) {
  // 64-bit operands: only two unsigned ones above 2^63 could leave 128 bits.
  const Wide limit = Wide{1} << 63;
  if (a.hi > limit && b.hi > limit) return {0, two_to_64 << 32};
  return corners(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi,
                 product_or(a.multiple, b.multiple, std::max(a.multiple, b.multiple)));
}

// Quotients by divisors of one sign, then joined; division by zero gives zero.
template <typename Divide>
Interval quotient(const Interval& a, const Interval& b, Divide divide) {
  Interval result{0, 0, 0};
  bool any = b.contains(0);
  auto part = [&](Wide lo, Wide hi) {
    if (lo > hi) return;
    const Interval q =
        corners(divide(a.lo, lo), divide(a.lo, hi), divide(a.hi, lo), divide(a.hi, hi), 1);
    result = any ? join(result, q) : q;
    any = true;
  };
  part(b.lo, std::min<Wide>(b.hi, -1));
  part(std::max<Wide>(b.lo, 1), b.hi);
  result.multiple = 1;
  if (b.is_point() && b.lo != 0 && a.multiple % b.lo == 0) {
    result.multiple = a.multiple / std::abs(saturated(b.lo));
  }
  return result;
}

// Floor remainder by positive divisors.
Interval positive_remainder(const Interval& a, const Interval& b) {
  if (a.lo >= 0 && a.hi < b.lo) return a;
  if (!b.is_point())
    return {0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1, gcd(a.multiple, b.multiple)};
  const Wide c = b.lo, q = floor_div(a.lo, c);
  const i64 step = c > largest ? 1 : gcd(a.multiple, saturated(c));
  if (floor_div(a.hi, c) == q) return {a.lo - q * c, a.hi - q * c, step};
  return {0, c - step, step};
}

Interval negated(const Interval& a) { return {-a.hi, -a.lo, a.multiple}; }

Interval remainder(const Interval& a, const Interval& b) {
  Interval result{0, 0, 0};
  bool any = false;
  auto with = [&](const Interval& part) {
    result = any ? join(result, part) : part;
    any = true;
  };
  if (b.contains(0)) with(a);
  if (b.hi > 0) with(positive_remainder(a, {std::max<Wide>(b.lo, 1), b.hi, b.multiple}));
  if (b.lo < 0) {
    with(negated(positive_remainder(negated(a), {std::max<Wide>(-b.hi, 1), -b.lo, b.multiple})));
  }
  return result;
}

// The remainder of the magnitudes, with the sign of the dividend.
Interval truncated_remainder(const Interval& a, const Interval& b) {
  Interval result{0, 0, 0};
  bool any = false;
  auto with = [&](const Interval& part) {
    result = any ? join(result, part) : part;
    any = true;
  };
  const Wide least = b.lo > 0 ? b.lo : -b.hi, most = std::max(b.hi, -b.lo);
  if (b.contains(0)) with(a);
  if (most > 0) {
    const Interval divisor{std::max<Wide>(least, 1), most, b.multiple};
    if (a.hi >= 0) with(positive_remainder({std::max<Wide>(a.lo, 0), a.hi, a.multiple}, divisor));
    if (a.lo < 0) {
      const Interval magnitude{-std::min<Wide>(a.hi, -1), -a.lo, a.multiple};
      with(negated(positive_remainder(magnitude, divisor)));
    }
  }
  return result;
}

Interval maximum(const Interval& a, const Interval& b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), gcd(a.multiple, b.multiple)};
}

Interval minimum(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), gcd(a.multiple, b.multiple)};
}

// ---- bits -------------------------------------------------------------------------------------

Interval complement(const Interval& a, DType t) {
  const Wide top = t == DType::Bool || is_unsigned(t) ? whole(t).hi : Wide{-1};
  return {top - a.hi, top - a.lo};
}

Interval shift(Op op, const Interval& a, const Interval& by, DType t) {
  const Wide width = t == DType::Index ? 64 : 8 * size_of(t);
  if (!by.is_point() || by.lo < 0 || by.lo >= width) {
    const bool shrinks = op == Op::Shr && a.lo >= 0;
    return shrinks ? Interval{0, a.hi} : whole(t);
  }
  const int s = static_cast<int>(by.lo);
  if (op == Op::Shr) {
    const bool exact = s < 63 && a.multiple % (i64{1} << s) == 0;
    return {a.lo >> s, a.hi >> s, exact ? a.multiple >> s : 1};
  }
  if (a.hi > largest) return whole(t);
  const i64 multiple = s < 62 ? product_or(a.multiple, i64{1} << s, i64{1} << s) : i64{1} << 62;
  return {a.lo << s, a.hi << s, multiple};
}

// ---- decisions --------------------------------------------------------------------------------

constexpr Interval unknown{0, 1}, truth{1, 1}, falsehood{0, 0, 0};

Interval decide(bool yes, bool no) { return yes ? truth : no ? falsehood : unknown; }

Interval compare(Op op, const Interval& a, const Interval& b) {
  const bool equal = a.is_point() && b.is_point() && a.lo == b.lo;
  const bool different = a.hi < b.lo || b.hi < a.lo;
  switch (op) {
    case Op::Lt: return decide(a.hi < b.lo, a.lo >= b.hi);
    case Op::Le: return decide(a.hi <= b.lo, a.lo > b.hi);
    case Op::Eq: return decide(equal, different);
    default: return decide(different, equal);
  }
}

Interval compare(Op op, UOp x, UOp y) {
  if (!is_integral(x.dtype())) return unknown;
  if (x == y) return op == Op::Le || op == Op::Eq ? truth : falsehood;
  return compare(op, interval_of(x), interval_of(y));
}

// An arm that is Invalid has no value, so it does not count.
Interval select(UOp condition, UOp x, UOp y) {
  if (condition.bounds().is_point()) return interval_of(condition.lo() ? x : y);
  if (x.is(Op::Invalid)) return interval_of(y);
  if (y.is(Op::Invalid)) return interval_of(x);
  return join(interval_of(x), interval_of(y));
}

Interval reinterpret(UOp x, DType to) {
  const Interval a = interval_of(x);
  return is_integral(x.dtype()) && a.lo >= 0 && fits(a, to) ? a : whole(to);
}

// What does not fit an Index wraps too: it is no sum that saturates.
Interval converted(UOp x, DType to) {
  if (!is_integral(x.dtype())) return whole(to);
  const Interval a = interval_of(x);
  return to == DType::Index && !fits(a, to) ? whole(to) : a;
}

Interval with_zero(UOp x) { return join(interval_of(x), falsehood); }

// How many values a Reduce takes together; at most -1: not known.
Interval reduced_count(std::span<const UOp> src, const Arg& arg) {
  Interval count{1, 1};
  for (UOp range : src.subspan(1)) {
    if (!range.is(Op::Range)) return {-1, -1};
    count.lo *= range.is_open() ? range.src(0).lo() : range.range_size();
    count.hi *= range.range_size();
    if (count.hi > two_to_64) break;
  }
  if (src.size() > 1) return count;
  for (i64 axis : arg.as_ints().subspan(1)) {
    count.lo *= src[0].extent(axis).least();
    count.hi *= src[0].extent(axis).most();
    if (count.hi > two_to_64) break;
  }
  return count;
}

// Of no values a reduction is the identity, of which nothing is known here but for a sum.
Interval reduction(std::span<const UOp> src, const Arg& arg, DType t) {
  const Interval x = interval_of(src[0]);
  const Interval count = reduced_count(src, arg);
  if (count.hi <= 0 || count.hi > two_to_64 / 4) return whole(t);
  switch (static_cast<Op>(arg.ints[0])) {
    case Op::Max:
    case Op::Min: return count.lo > 0 ? x : whole(t);
    case Op::Add:
      return corners(x.lo * count.lo, x.lo * count.hi, x.hi * count.lo, x.hi * count.hi,
                     x.multiple);
    default: return whole(t);
  }
}

Interval elementwise(Op op, DType t, std::span<const UOp> src) {
  if (is_comparison(op)) return compare(op, src[0], src[1]);
  switch (op) {
    case Op::Where: return select(src[0], src[1], src[2]);
    case Op::Cast: return converted(src[0], t);
    case Op::Bitcast: return reinterpret(src[0], t);
    default: break;
  }
  Interval operands[3] = {};
  for (std::size_t i = 0; i < src.size(); i++) operands[i] = interval_of(src[i]);
  return interval_of(op, t, std::span(operands, src.size()));
}

// The common case of index arithmetic, a sum or a product with a constant, in 64 bits; false if it
// does not fit there.
bool short_bounds(Op op, UOp a, UOp b, Bounds* result) {
  const Bounds &x = a.bounds(), &y = b.bounds();
  if (op == Op::Add) {
    result->multiple = gcd(x.multiple, y.multiple);
    return !__builtin_add_overflow(x.lo, y.lo, &result->lo) &&
           !__builtin_add_overflow(x.hi, y.hi, &result->hi);
  }
  if (op != Op::Mul || !b.is_const() || y.lo <= 0) return false;
  return !__builtin_mul_overflow(x.lo, y.lo, &result->lo) &&
         !__builtin_mul_overflow(x.hi, y.lo, &result->hi) &&
         !__builtin_mul_overflow(x.multiple, y.lo, &result->multiple);
}

}  // namespace

Interval whole(DType t) {
  if (t == DType::UInt64) return {0, two_to_64 - 1};
  return {min_value(t), max_value(t)};
}

Interval interval_of(UOp u) {
  const DType t = u.dtype();
  if (!is_integral(t)) return whole(DType::Index);
  if (t == DType::UInt64) {
    if (u.is_const()) {
      const Wide v = static_cast<std::uint64_t>(u.const_int());
      return {v, v};
    }
    if (u.hi() == largest) return {u.lo(), two_to_64 - 1, u.bounds().multiple};
  }
  return {u.lo(), u.hi(), u.bounds().multiple};
}

Interval interval_of(Op op, DType t, std::span<const Interval> operands) {
  const Interval& a = operands[0];
  const Interval& b = operands.size() > 1 ? operands[1] : a;
  if (is_comparison(op)) return compare(op, a, b);
  switch (op) {
    case Op::Neg: return negated(a);
    case Op::Not: return complement(a, t);
    case Op::Trunc: return a;
    case Op::Add: return add(a, b);
    case Op::Mul: return multiply(a, b);
    case Op::IDiv: return quotient(a, b, floor_div);
    case Op::CDiv: return quotient(a, b, truncated_div);
    case Op::Mod: return remainder(a, b);
    case Op::CMod: return truncated_remainder(a, b);
    case Op::Max: return maximum(a, b);
    case Op::Min: return minimum(a, b);
    case Op::And:
    case Op::Or:
    case Op::Xor: return bitwise_interval(op, a, b);
    case Op::Shl:
    case Op::Shr: return shift(op, a, b, t);
    case Op::Where: return a.is_point() ? operands[a.lo != 0 ? 1 : 2] : join(b, operands[2]);
    case Op::MulAdd: return add(multiply(a, b), operands[2]);
    default: return whole(t);
  }
}

Bounds derive_bounds(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  if (!is_integral(dtype)) return {};
  if (op == Op::Const) {
    if (dtype == DType::UInt64 && arg.value < 0) return {largest - 1, largest, 1};
    return settle({arg.value, arg.value}, dtype);
  }
  Bounds quick;
  if (dtype == DType::Index && src.size() == 2 && short_bounds(op, src[0], src[1], &quick) &&
      quick.lo != quick.hi) {
    return with_divisible_ends(quick);
  }
  if (is_elementwise(op) && !src.empty()) return settle(elementwise(op, dtype, src), dtype);
  if (is_movement(op)) {
    const bool fills = op == Op::Pad || op == Op::Unwindow;
    return settle(fills ? with_zero(src[0]) : interval_of(src[0]), dtype);
  }
  switch (op) {
    case Op::Variable: return settle({arg.ints[1], arg.ints[2]}, dtype);
    case Op::Range:
    case Op::Special: return settle({0, std::max<i64>(arg.ints[1] - 1, 0)}, dtype);
    case Op::Iota: return settle({0, std::max<i64>(arg.value - 1, 0)}, dtype);
    case Op::Reduce: return settle(reduction(src, arg, dtype), dtype);
    case Op::Gather: return settle(with_zero(src[0]), dtype);
    case Op::Contiguous:
    case Op::ContiguousBackward:
    case Op::Detach:
    case Op::WithGradient:
    case Op::Copy:
    case Op::After: return settle(interval_of(src[0]), dtype);
    default: return settle(whole(dtype), dtype);
  }
}

}  // namespace croze
