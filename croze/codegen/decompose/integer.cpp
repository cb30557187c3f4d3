// integer.cpp -- integer division, shifts and Threefry with the results that eval.h documents, from
// ops that have none for a divisor of 0 or an amount beyond the width.
//
// Bounds decide what has to be written: most operands come from index arithmetic and are not
// negative, most divisors are constants.
#include <bit>
#include <optional>

#include "codegen/decompose/expand.h"

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

// x / d = x * factor >> shift for all x up to a bound.
struct Multiplier {
  u64 factor;
  int shift;
};

// Let factor = (2^shift + e) / d with 0 <= e < d.  Then x * factor / 2^shift exceeds x / d by
// x * e / (d * 2^shift), which does not reach the next whole number if x * e < 2^shift.  The least
// shift that satisfies this for the greatest x gives the least factor.
std::optional<Multiplier> multiplier_for(u64 d, u64 greatest_x) {
  for (int shift = 0; shift < 64; shift++) {
    const u128 power = u128{1} << shift;
    const u128 factor = (power + d - 1) / d;
    const u128 e = factor * d - power;
    if (factor > ~u64{0}) return std::nullopt;
    if (e * greatest_x < power) return Multiplier{static_cast<u64>(factor), shift};
  }
  return std::nullopt;
}

// The quotient of a natural x, at most `most`, by a constant d > 1, if the product fits a type that
// is no wider than 64 bits.
UOp divide_by_multiplying(UOp x, u64 most, u64 d, const Caps& caps) {
  const std::optional<Multiplier> m = multiplier_for(d, most);
  if (!m) return {};
  const u128 product = u128{m->factor} * most;
  for (DType t : {x.dtype(), DType::UInt32, DType::UInt64}) {
    if (size_of(t) < size_of(x.dtype()) || !caps.has_dtype(t)) continue;
    if (product > greatest_of_type(t) || m->shift >= width_of(t)) continue;
    const UOp factor = x.graph().constant_bits(t, static_cast<std::int64_t>(m->factor));
    const UOp wide = cast(x, t) * factor;
    return cast(binary(Op::Shr, wide, constant_like(wide, m->shift)), x.dtype());
  }
  return {};
}

UOp divide_natural(UOp x, u64 most, UOp divisor, const Caps& caps) {
  const u64 d = static_cast<u64>(divisor.const_int());
  if (most < d) return constant_like(x, 0);
  if (std::has_single_bit(d)) return binary(Op::Shr, x, constant_like(x, std::countr_zero(d)));
  if (const UOp q = divide_by_multiplying(x, most, d, caps)) return q;
  return binary(Op::CDiv, x, divisor);
}

// Floor division by a constant d > 0.
UOp divide_by_constant(UOp x, UOp divisor, const Caps& caps) {
  const u64 d = static_cast<u64>(divisor.const_int());
  if (d == 1) return x;
  if (is_natural(x)) return divide_natural(x, greatest(x), divisor, caps);
  if (std::has_single_bit(d)) return binary(Op::Shr, x, constant_like(x, std::countr_zero(d)));
  // For negative x, floor(x / d) = ~(~x / d), and ~x is natural: xor with the sign does both.
  const UOp sign = binary(Op::Shr, x, constant_like(x, width_of(x.dtype()) - 1));
  const u64 most = std::max(static_cast<u64>(std::max<std::int64_t>(x.hi(), 0)),
                            static_cast<u64>(-(x.lo() + 1)));
  return binary(Op::Xor, divide_natural(binary(Op::Xor, x, sign), most, divisor, caps), sign);
}

bool is_positive_constant(UOp d) {
  return d.is_const() && (is_unsigned(d.dtype()) ? d.const_int() != 0 : d.const_int() > 0);
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

UOp floor_div(UOp x, UOp d, const Caps& caps) {
  if (is_positive_constant(d)) return divide_by_constant(x, d, caps);
  const Divisor divisor = guarded(x, d);
  const UOp q = truncated_div(x, divisor);
  if (is_natural(x) && is_natural(d)) return q;
  const UOp up = rounded_up(binary(Op::CMod, x, divisor.safe), d);
  return q - cast(up, x.dtype());
}

UOp floor_mod(UOp x, UOp d, const Caps& caps) {
  if (is_positive_constant(d)) {
    const u64 c = static_cast<u64>(d.const_int());
    if (std::has_single_bit(c)) return x & constant_like(x, static_cast<std::int64_t>(c - 1));
    if (is_natural(x) && greatest(x) < c) return x;
    const UOp q = divide_by_constant(x, d, caps);
    return q.is(Op::CDiv) ? binary(Op::CMod, x, d) : x - q * d;
  }
  const Divisor divisor = guarded(x, d);
  UOp r = binary(Op::CMod, x, divisor.safe);
  if (!is_natural(x) || !is_natural(d)) r = where(rounded_up(r, d), r + d, r);
  return divisor.is_zero ? choose(divisor.is_zero, x, r) : r;
}

UOp truncated_div(UOp x, UOp d, const Caps& caps) {
  if (is_natural(x) && is_positive_constant(d)) return divide_by_constant(x, d, caps);
  return truncated_div(x, guarded(x, d));
}

UOp truncated_mod(UOp x, UOp d, const Caps& caps) {
  if (is_natural(x) && is_positive_constant(d)) return floor_mod(x, d, caps);
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

  UOp x0 = low(counter) + keys[0], x1 = high(counter) + keys[1];
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
