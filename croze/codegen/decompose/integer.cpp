// integer.cpp -- integer division, shifts and Threefry with the results that eval.h documents, from
// ops that have none for a divisor of 0 or an amount beyond the width.
//
// Bounds decide what has to be written: most operands come from index arithmetic and are not
// negative, most divisors are constants.  Division by a constant is a product and shifts for every
// width.  Compilers know that for scalars; but vectors of 64-bit integers they take apart, so that
// on a CPU with AVX-512 it takes 0.7 ns a number here and 0.9 ns there, and to devices that
// interpret or translate literally a division is a division.
#include <bit>

#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

using u64 = std::uint64_t;
using u128 = unsigned __int128;

std::int64_t width_of(DType t) { return 8 * size_of(t); }

bool is_natural(UOp x) { return is_unsigned(x.dtype()) || x.lo() >= 0; }

// A UInt64's greatest value does not fit the bounds of a node.
bool is_unbounded(UOp x) {
  return x.dtype() == DType::UInt64 && x.hi() == max_value(DType::UInt64);
}

// Of a natural number.
u64 greatest(UOp x) { return is_unbounded(x) ? ~u64{0} : static_cast<u64>(x.hi()); }

u64 greatest_of_type(DType t) {
  return t == DType::UInt64 ? ~u64{0} : static_cast<u64>(max_value(t));
}

bool may_be(UOp x, std::int64_t value) {
  return x.lo() <= value && (value <= x.hi() || is_unbounded(x));
}

// ---- constant divisors ------------------------------------------------------------------------

// Theorem (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI
// 1994; the form here is that of Warren, Hacker's Delight, ch. 10).  For d > 0 let factor =
// ceil(2^shift / d) and e = factor * d - 2^shift, so 0 <= e < d.  If most * e < 2^shift, then for
// all 0 <= x <= most
//     floor(x / d) = floor(x * factor / 2^shift).
// Proof.  x * factor / 2^shift = x / d + x * e / (d * 2^shift), which is not less than x / d and
// exceeds it by less than 1 / d; and x / d is at least 1 / d below the next whole number.
//
// For most < 2^w the shift w + ceil(log2 d) satisfies this, since e < d, and gives a factor below
// 2^(w + 1): in w bits there is always an answer if the factor may have one bit more than w.
struct Multiplier {
  u128 factor;
  int shift;
};

// The least shift, which gives the least factor.
Multiplier multiplier_for(u64 d, u64 most) {
  for (int shift = 0;; shift++) {
    const u128 power = u128{1} << shift;
    const u128 factor = (power + d - 1) / d;
    if ((factor * d - power) * most < power) return {factor, shift};
  }
}

// The high half of the product of x and a constant of its unsigned type.
UOp high_product(UOp x, u64 factor) {
  const DType t = x.dtype();
  const UOp constant = x.graph().constant_bits(t, static_cast<std::int64_t>(factor));
  if (size_of(t) == 8) return multiply_high(x, constant);
  const DType wide = size_of(t) == 4 ? DType::UInt64 : DType::UInt32;
  const UOp product = cast(x, wide) * cast(constant, wide);
  return cast(binary(Op::Shr, product, constant_like(product, width_of(t))), t);
}

// The same type without sign.
DType unsigned_of(DType t) {
  switch (t) {
    case DType::Int8: return DType::UInt8;
    case DType::Int16: return DType::UInt16;
    case DType::Int32: return DType::UInt32;
    case DType::Int64: return DType::UInt64;
    default: return t;
  }
}

UOp shifted_down(UOp x, int by) { return by ? binary(Op::Shr, x, constant_like(x, by)) : x; }

// x * factor >> shift, if the product fits a type.
UOp by_one_product(UOp x, u64 most, const Multiplier& m) {
  if (m.factor > ~u64{0}) return {};
  for (DType t : {x.dtype(), DType::UInt32, DType::UInt64}) {
    const bool too_wide = t == DType::UInt64 && size_of(x.dtype()) < 4;
    if (size_of(t) < size_of(x.dtype()) || too_wide || m.shift >= width_of(t)) continue;
    // The product of two 64-bit numbers fits 128 bits.
    if (u128{static_cast<u64>(m.factor)} * most > greatest_of_type(t)) continue;
    const UOp wide = cast(x, t);
    const UOp factor = x.graph().constant_bits(t, static_cast<std::int64_t>(m.factor));
    return cast(shifted_down(wide * factor, m.shift), x.dtype());
  }
  return {};
}

UOp by_high_product(UOp x, u64 most, u64 d) {
  const DType t = x.dtype();
  const UOp n = x.graph().bitcast(x, unsigned_of(t));
  const int width = static_cast<int>(width_of(t));
  const DivisionPlan plan = plan_division(d, most, width);
  const UOp y = shifted_down(n, plan.before);
  const UOp high = high_product(y, plan.factor);
  // With the bit that the factor lacks the product is y + high, whose half is all that is needed.
  const UOp sum = plan.carries ? high + shifted_down(y - high, 1) : high;
  return x.graph().bitcast(shifted_down(sum, plan.after), t);
}

// Of a natural x, at most `most`.
UOp divide_natural(UOp x, u64 most, u64 d) {
  if (d == 1) return x;
  if (most < d) return constant_like(x, 0);
  if (std::has_single_bit(d)) return shifted_down(x, std::countr_zero(d));
  if (most / 2 < d) {
    const UOp divisor = x.graph().constant_bits(x.dtype(), static_cast<std::int64_t>(d));
    return cast(less_equal(divisor, x), x.dtype());
  }
  if (const UOp q = by_one_product(x, most, multiplier_for(d, most))) return q;
  return by_high_product(x, most, d);
}

bool is_nonzero_constant(UOp d) { return d.is_const() && d.const_int() != 0; }

// The magnitude of a constant: the least integer's fits without a sign.
u64 magnitude_of(UOp d) {
  const auto c = static_cast<u64>(d.const_int());
  return is_unsigned(d.dtype()) || d.const_int() > 0 ? c : u64{0} - c;
}

bool is_negative(UOp constant) {
  return !is_unsigned(constant.dtype()) && constant.const_int() < 0;
}

// The greatest magnitudes of what a signed x can be, on either side of zero.
u64 greatest_positive(UOp x) { return static_cast<u64>(std::max<std::int64_t>(x.hi(), 0)); }
u64 greatest_negative(UOp x) {
  return u64{0} - static_cast<u64>(std::min<std::int64_t>(x.lo(), 0));
}

// A natural number, at most `most`, that is computed in a signed type, divided in the unsigned one.
UOp divide_as_unsigned(UOp x, u64 most, u64 d) {
  Graph& graph = x.graph();
  return graph.bitcast(divide_natural(graph.bitcast(x, unsigned_of(x.dtype())), most, d),
                       x.dtype());
}

// For y < 0, floor(y / d) = ~(~y / d) if d > 0, and ~y is natural: xor with the sign of y does
// both.  A negative divisor divides y = -x.  The negative of the least integer is itself, but it is
// right where x <= 0 and y is read without a sign; so the sign asked for is that of x.
UOp floor_by_constant(UOp x, UOp divisor) {
  const u64 d = magnitude_of(divisor);
  const bool negative = is_negative(divisor);
  if (is_natural(x) && !negative) return divide_natural(x, greatest(x), d);
  if (!negative && std::has_single_bit(d)) return shifted_down(x, std::countr_zero(d));
  const UOp y = negative ? -x : x;
  const UOp sign =
      negative ? where(less(constant_like(x, 0), x), constant_like(x, -1), constant_like(x, 0))
               : binary(Op::Shr, x, constant_like(x, width_of(x.dtype()) - 1));
  const u64 most = std::max(greatest_positive(x), greatest_negative(x) - (negative ? 0 : 1));
  return binary(Op::Xor, divide_as_unsigned(binary(Op::Xor, y, sign), most, d), sign);
}

// The quotient of magnitudes, negated where the signs differ.
UOp truncated_by_constant(UOp x, UOp divisor) {
  const u64 d = magnitude_of(divisor);
  if (is_natural(x) && !is_negative(divisor)) return divide_natural(x, greatest(x), d);
  const UOp sign = binary(Op::Shr, x, constant_like(x, width_of(x.dtype()) - 1));
  const u64 most = std::max(greatest_positive(x), greatest_negative(x));
  const UOp q = divide_as_unsigned(binary(Op::Xor, x, sign) - sign, most, d);
  const UOp flip = is_negative(divisor) ? x.graph().alu(Op::Not, {sign}) : sign;
  return binary(Op::Xor, q, flip) - flip;
}

// ---- any divisor ------------------------------------------------------------------------------

// A divisor that CDiv and CMod can take: 1 instead of 0, and instead of the -1 that overflows.
struct Divisor {
  UOp safe;
  UOp is_zero;       // null: never
  UOp is_minus_one;  // null: need not be looked at
};

Divisor guarded(UOp x, UOp d) {
  Divisor result{d, {}, {}};
  const UOp one = constant_like(d, 1);
  if (may_be(d, 0)) {
    result.is_zero = equal(d, 0);
    result.safe = choose(result.is_zero, one, result.safe);
  }
  if (!is_unsigned(d.dtype()) && may_be(d, -1) && may_be(x, min_value(x.dtype()))) {
    result.is_minus_one = equal(d, -1);
    result.safe = choose(result.is_minus_one, one, result.safe);
  }
  return result;
}

UOp truncated_div(UOp x, const Divisor& d) {
  UOp q = binary(Op::CDiv, x, d.safe);
  if (d.is_minus_one) q = choose(d.is_minus_one, -x, q);
  if (d.is_zero) q = choose(d.is_zero, constant_like(x, 0), q);
  return q;
}

// Whether truncation rounded up: the remainder is not zero and has not the divisor's sign.  False
// for the divisors that are guarded.
UOp rounded_up(UOp remainder, UOp d) {
  return not_equal(remainder, constant_like(d, 0)) & less(binary(Op::Xor, remainder, d), 0);
}

UOp rotate_left(UOp x, int by) {
  return binary(Op::Shl, x, constant_like(x, by)) | binary(Op::Shr, x, constant_like(x, 32 - by));
}

}  // namespace

DivisionPlan plan_division(u64 d, u64 most, int width) {
  const u128 limit = u128{1} << width;
  Multiplier m = multiplier_for(d, most);
  DivisionPlan plan;
  // A shift by the zeros at the end of d saves as many bits of the factor.
  if (m.factor >= limit && d % 2 == 0) {
    plan.before = std::countr_zero(d);
    m = multiplier_for(d >> plan.before, most >> plan.before);
  }
  plan.carries = m.factor >= limit;
  if (plan.carries) {
    m.factor -= limit;
    plan.after = m.shift - width - 1;
  } else {
    for (; m.shift < width; m.shift++) m.factor *= 2;
    plan.after = m.shift - width;
  }
  plan.factor = static_cast<u64>(m.factor);
  return plan;
}

UOp multiply_high(UOp a, UOp b) {
  auto low = [](UOp x) { return x & constant_like(x, 0xffffffff); };
  auto high = [](UOp x) { return shifted_down(x, 32); };
  const UOp a0 = low(a), a1 = high(a), b0 = low(b), b1 = high(b);
  const UOp cross = a0 * b1;
  const UOp middle = high(a0 * b0) + low(cross) + a1 * b0;  // see the header: no overflow
  return a1 * b1 + high(cross) + high(middle);
}

UOp floor_div(UOp x, UOp d) {
  if (is_nonzero_constant(d)) return floor_by_constant(x, d);
  const Divisor divisor = guarded(x, d);
  const UOp q = truncated_div(x, divisor);
  if (is_natural(x) && is_natural(d)) return q;
  const UOp up = rounded_up(binary(Op::CMod, x, divisor.safe), d);
  return q - cast(up, x.dtype());
}

UOp floor_mod(UOp x, UOp d) {
  if (is_nonzero_constant(d)) {
    const u64 c = magnitude_of(d);
    if (!is_negative(d) && std::has_single_bit(c)) {
      return x & constant_like(x, static_cast<std::int64_t>(c - 1));
    }
    if (is_natural(x) && !is_negative(d) && greatest(x) < c) return x;
    return x - floor_by_constant(x, d) * d;
  }
  const Divisor divisor = guarded(x, d);
  UOp r = binary(Op::CMod, x, divisor.safe);
  if (!is_natural(x) || !is_natural(d)) r = where(rounded_up(r, d), r + d, r);
  return divisor.is_zero ? choose(divisor.is_zero, x, r) : r;
}

UOp truncated_div(UOp x, UOp d) {
  if (is_nonzero_constant(d)) return truncated_by_constant(x, d);
  return truncated_div(x, guarded(x, d));
}

UOp truncated_mod(UOp x, UOp d) {
  if (is_natural(x) && d.is_const() && d.lo() > 0) return floor_mod(x, d);
  if (is_nonzero_constant(d)) return x - truncated_by_constant(x, d) * d;
  const Divisor divisor = guarded(x, d);
  const UOp r = binary(Op::CMod, x, divisor.safe);
  return divisor.is_zero ? choose(divisor.is_zero, x, r) : r;
}

// ---- shifts -----------------------------------------------------------------------------------

namespace {

bool is_in_width(UOp amount) { return amount.lo() >= 0 && amount.hi() < width_of(amount.dtype()); }

// Whether an amount, taken as unsigned, is less than the width.
UOp in_width(UOp amount) {
  const UOp inside = less(amount, width_of(amount.dtype()));
  if (is_natural(amount)) return inside;
  return inside & less_equal(constant_like(amount, 0), amount);
}

}  // namespace

UOp shift_left(UOp x, UOp amount) {
  if (is_in_width(amount)) return binary(Op::Shl, x, amount);
  const UOp low = amount & constant_like(amount, width_of(x.dtype()) - 1);
  return choose(in_width(amount), binary(Op::Shl, x, low), constant_like(x, 0));
}

UOp shift_right(UOp x, UOp amount) {
  if (is_in_width(amount)) return binary(Op::Shr, x, amount);
  const UOp last = constant_like(amount, width_of(x.dtype()) - 1);
  if (!is_unsigned(x.dtype())) {
    return binary(Op::Shr, x, choose(in_width(amount), amount, last));
  }
  return choose(in_width(amount), binary(Op::Shr, x, amount & last), constant_like(x, 0));
}

// ---- random numbers ---------------------------------------------------------------------------

UOp threefry(UOp counter, UOp key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  auto low = [](UOp x) { return cast(x, DType::UInt32); };
  auto high = [](UOp x) { return cast(binary(Op::Shr, x, constant_like(x, 32)), DType::UInt32); };
  const UOp k0 = low(key), k1 = high(key);
  const UOp parity = constant_like(k0, 0x1bd11bda);
  const UOp keys[3] = {k0, k1, binary(Op::Xor, binary(Op::Xor, k0, k1), parity)};

  const bool has_one_word = greatest(counter) >> 32 == 0;
  UOp x0 = low(counter) + keys[0], x1 = has_one_word ? keys[1] : high(counter) + keys[1];
  for (int block = 0; block < 5; block++) {
    for (int rotation : rotations[block % 2]) {
      x0 = x0 + x1;
      x1 = binary(Op::Xor, rotate_left(x1, rotation), x0);
    }
    x0 = x0 + keys[(block + 1) % 3];
    x1 = x1 + (keys[(block + 2) % 3] + (block + 1));
  }
  const UOp top = cast(x1, DType::UInt64);
  return binary(Op::Shl, top, constant_like(top, 32)) | cast(x0, DType::UInt64);
}

}  // namespace croze::expand
