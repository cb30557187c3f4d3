// word_arithmetic.cpp -- arithmetic on integers of 64 bits held in two UInt32.
//
// Many words are known: the high ones of numbers that were narrow, the halves of constants.  Graph
// folds what is all constant; the identities with 0 are applied here, so that half of a pair that
// is not there costs nothing.
#include "croze/codegen/decompose/word_arithmetic.h"

#include <cmath>

#include "croze/base/error.h"
#include "croze/codegen/decompose/expand.h"
#include "croze/graph/graph.h"

namespace croze::words {
namespace {

using expand::binary;

UOp word(UOp like, std::int64_t value) { return like.graph().constant(DType::UInt32, value); }
UOp signed_word(UOp x) { return x.graph().bitcast(x, DType::Int32); }
UOp unsigned_word(UOp x) { return x.graph().bitcast(x, DType::UInt32); }
bool is_zero(UOp x) { return x.is_const(0); }

UOp plus(UOp a, UOp b) { return is_zero(a) ? b : is_zero(b) ? a : a + b; }
UOp times(UOp a, UOp b) {
  if (is_zero(a) || is_zero(b)) return word(a, 0);
  return a.is_const(1) ? b : b.is_const(1) ? a : a * b;
}
UOp either(UOp a, UOp b) { return is_zero(a) ? b : is_zero(b) ? a : a | b; }
UOp up(UOp x, UOp by) { return is_zero(x) || is_zero(by) ? x : binary(Op::Shl, x, by); }
UOp down(UOp x, UOp by) { return is_zero(x) || is_zero(by) ? x : binary(Op::Shr, x, by); }
UOp up(UOp x, int by) { return up(x, constant_like(x, by)); }
UOp down(UOp x, int by) { return down(x, constant_like(x, by)); }
UOp as_word(UOp condition) { return cast(condition, DType::UInt32); }

// x * 2^by with what `below` moves up into it.  What crosses goes in two steps, since a shift by 32
// is none.
UOp up_with(UOp x, UOp below, UOp by) {
  return either(up(x, by), down(down(below, 1), word(by, 31) - by));
}

// All bits like the sign.
UOp sign_of(UOp high) { return unsigned_word(down(signed_word(high), 31)); }
UOp is_negative(Pair a) { return less(signed_word(a.high), 0); }
UOp is_zero(Pair a) { return equal(either(a.low, a.high), word(a.low, 0)); }

// The product of two words, from products of half words.
Pair product(UOp a, UOp b) {
  const UOp mask = word(a, 0xffff);
  const UOp a0 = a & mask, a1 = down(a, 16), b0 = b & mask, b1 = down(b, 16);
  const UOp cross = times(a0, b1);
  // (2^16 - 2) + (2^16 - 1) + (2^16 - 1)^2 is less than 2^32.
  const UOp middle = plus(plus(down(times(a0, b0), 16), cross & mask), times(a1, b0));
  return {times(a, b), plus(plus(times(a1, b1), down(cross, 16)), down(middle, 16))};
}

// ---- division ---------------------------------------------------------------------------------

// How many zeros are above the leading one of x, which is not 0: what the exponent of x as a float
// tells, where the bit below the leading one is cleared so that nothing is rounded up to the next.
UOp leading_zeros(UOp x) {
  Graph& graph = x.graph();
  const UOp leading = x & graph.alu(Op::Not, {down(x, 1)});
  const UOp bits = graph.bitcast(cast(leading, DType::Float32), DType::UInt32);
  return word(x, 127 + 31) - down(bits, 23);
}

struct WordQuotient {
  UOp quotient, remainder;
};

// The next digit, of 16 bits, of a quotient by d >= 2^31: (rest * 2^16 + next) / d with rest < d.
// The quotient by the high half of d alone is too large by 2 at most (Knuth, The Art of Computer
// Programming 2, 4.3.1, theorem B).  It is too large if it is no digit, or if the low half of d
// times it exceeds what it left with `next` behind, as it cannot where that is 2^32 or more.
WordQuotient next_digit(UOp rest, UOp next, UOp d) {
  const UOp top = down(d, 16), bottom = d & word(d, 0xffff), base = word(d, 1 << 16);
  UOp guess = binary(Op::CDiv, rest, top);
  UOp left = rest - guess * top;
  for (int correction = 0; correction < 2; correction++) {
    const UOp exceeds = less_equal(base, guess) | less(up(left, 16) | next, guess * bottom);
    const UOp too_large = less(left, base) & exceeds;
    guess = guess - as_word(too_large);
    left = where(too_large, left + top, left);
  }
  return {guess, (up(rest, 16) | next) - guess * d};
}

// a / d where d >= 2^31 and a.high < d, so that the quotient is a word.
WordQuotient divide_by_normal(Pair a, UOp d) {
  const WordQuotient high = next_digit(a.high, down(a.low, 16), d);
  const WordQuotient low = next_digit(high.remainder, a.low & word(d, 0xffff), d);
  return {up(high.quotient, 16) | low.quotient, low.remainder};
}

// A divisor of one word d takes two steps, as on paper: the high word by d, then what it left and
// the low word, both moved up until d has its leading bit at the top.
//
// Of a divisor b of two words the quotient is one word.  With s zeros above b, let t be the top
// word of b * 2^s: then (a / 2) / t, moved down by 31 - s, is the quotient or one more (Warren,
// Hacker's Delight, 9-5).  One less than that is the quotient or one less, which what is left
// tells.
Quotient divide_unsigned(Pair a, Pair b) {
  const UOp zero = word(a.low, 0), one = word(a.low, 1);
  if (is_zero(a.high) && is_zero(b.high)) {
    const UOp q = binary(Op::CDiv, a.low, b.low);
    return {{q, zero}, {a.low - q * b.low, zero}};
  }
  const UOp is_long = not_equal(b.high, zero);
  const UOp leading = expand::choose(is_long, b.high, b.low);
  const UOp shift = leading_zeros(leading);
  const UOp divisor = up_with(leading, expand::choose(is_long, b.low, zero), shift);

  const UOp high = is_zero(a.high) ? zero : binary(Op::CDiv, a.high, leading);
  const UOp rest = is_zero(a.high) ? zero : a.high - high * leading;
  const Pair half = {either(up(a.high, 31), down(a.low, 1)), down(a.high, 1)};
  const Pair moved = {up(a.low, shift), up_with(rest, a.low, shift)};
  const WordQuotient q = divide_by_normal(choose(is_long, half, moved), divisor);
  const Quotient by_word = {{q.quotient, high}, {down(q.remainder, shift), zero}};
  if (is_zero(b.high)) return by_word;

  const UOp about = down(q.quotient, word(a.low, 31) - shift);
  const UOp less_one = about - as_word(not_equal(about, zero));
  const Pair left = add(a, negate(multiply({less_one, zero}, b)));
  const UOp once_more = logical_not(is_less(left, b, false));
  const Quotient by_pair = {{where(once_more, less_one + one, less_one), zero},
                            choose(once_more, add(left, negate(b)), left)};
  return {choose(is_long, by_pair.quotient, by_word.quotient),
          choose(is_long, by_pair.remainder, by_word.remainder)};
}

Pair negate_if(UOp condition, Pair a) { return choose(condition, negate(a), a); }

// ---- conversions ------------------------------------------------------------------------------

constexpr double two_32 = 0x1p32;

// The words of a float in [0, 2^64).  The quotient by 2^32 keeps all bits of x, so its whole part,
// and what that leaves of x, are exact.
Pair from_natural(UOp x) {
  Graph& graph = x.graph();
  const UOp scaled = x * graph.constant(x.dtype(), 1 / two_32);
  const UOp high = cast(scaled, DType::UInt32);
  const UOp rest = x - cast(high, x.dtype()) * graph.constant(x.dtype(), two_32);
  return {cast(rest, DType::UInt32), high};
}

Pair from_float(UOp x, bool is_signed) {
  Graph& graph = x.graph();
  const UOp zero = graph.constant(x.dtype(), 0.0);
  const UOp negative = less(x, zero);
  const UOp size = is_signed ? where(negative, -x, x) : where(less(zero, x), x, zero);
  const UOp limit = graph.constant(x.dtype(), is_signed ? 0x1p63 : 0x1p64);
  const UOp beyond = less_equal(limit, size);
  const Pair inside = from_natural(where(beyond, zero, size));
  if (!is_signed) return choose(beyond, constant(graph, -1), inside);
  const Pair extreme = choose(negative, constant(graph, INT64_MIN), constant(graph, INT64_MAX));
  return choose(beyond, extreme, negate_if(negative, inside));
}

// a = (word + what was lost) * scale with at least 29 bits in the word, the last of which says
// whether anything was lost.  So the word can be rounded in place of a.  A Float32.
struct Normalized {
  UOp word, scale;
};
Normalized normalize(Pair a) {
  Graph& graph = a.low.graph();
  auto number = [&](double v) { return graph.constant(DType::Float32, v); };
  const UOp short_one = equal(a.high, word(a.high, 0));
  UOp high = where(short_one, a.low, a.high);
  UOp low = where(short_one, word(a.low, 0), a.low);
  UOp scale = where(short_one, number(1), number(two_32));
  for (int step : {16, 8, 4}) {
    const UOp small = less(high, word(high, std::int64_t{1} << (32 - step)));
    high = where(small, up(high, step) | down(low, 32 - step), high);
    low = where(small, up(low, step), low);
    scale = where(small, scale * number(std::ldexp(1.0, -step)), scale);
  }
  return {high | as_word(not_equal(low, word(low, 0))), scale};
}

UOp to_float(Pair a, DType t, bool is_signed) {
  Graph& graph = a.low.graph();
  if (t == DType::Float64) {
    const UOp high = cast(is_signed ? signed_word(a.high) : a.high, t);
    return high * graph.constant(t, two_32) + cast(a.low, t);
  }
  const UOp negative = is_negative(a);
  const auto [word_of, scale] = normalize(is_signed ? negate_if(negative, a) : a);
  // A narrower type is rounded from a Float32 that has kept all bits of the word that matter, and
  // in the last one whether there were others.
  const UOp kept =
      t == DType::Float32
          ? word_of
          : down(word_of, 8) | as_word(not_equal(word_of & word(word_of, 255), word(word_of, 0)));
  const double up_again = t == DType::Float32 ? 1 : 256;
  const UOp size = cast(kept, DType::Float32) * scale * graph.constant(DType::Float32, up_again);
  return graph.cast(is_signed ? where(negative, -size, size) : size, t);
}

}  // namespace

Pair constant(Graph& graph, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return {graph.constant(DType::UInt32, static_cast<std::int64_t>(bits & 0xffffffff)),
          graph.constant(DType::UInt32, static_cast<std::int64_t>(bits >> 32))};
}

Pair negate(Pair a) {
  Graph& graph = a.low.graph();
  const UOp inverted = graph.alu(Op::Not, {a.high});
  return {-a.low, plus(inverted, as_word(equal(a.low, word(a.low, 0))))};
}

Pair add(Pair a, Pair b) {
  const UOp low = plus(a.low, b.low);
  const bool carries = !is_zero(a.low) && !is_zero(b.low);
  const UOp high = plus(a.high, b.high);
  return {low, carries ? plus(high, as_word(less(low, a.low))) : high};
}

Pair multiply(Pair a, Pair b) {
  const Pair p = product(a.low, b.low);
  return {p.low, plus(p.high, plus(times(a.low, b.high), times(a.high, b.low)))};
}

Quotient divide(Pair a, Pair b, bool is_signed) {
  if (!is_signed) return divide_unsigned(a, b);
  const UOp a_negative = is_negative(a), b_negative = is_negative(b);
  const Quotient q = divide_unsigned(negate_if(a_negative, a), negate_if(b_negative, b));
  const UOp differ = not_equal(a_negative, b_negative);
  return {negate_if(differ, q.quotient), negate_if(a_negative, q.remainder)};
}

Pair shift_left(Pair a, UOp amount) {
  const UOp inside = amount & word(amount, 31);
  const UOp low = up(a.low, inside), high = up_with(a.high, a.low, inside);
  return choose(less(amount, word(amount, 32)), {low, high}, {word(low, 0), low});
}

Pair shift_right(Pair a, UOp amount, bool is_signed) {
  const UOp inside = amount & word(amount, 31), outside = word(amount, 31) - inside;
  const UOp low = either(down(a.low, inside), up(up(a.high, 1), outside));
  const UOp high = is_signed ? unsigned_word(down(signed_word(a.high), signed_word(inside)))
                             : down(a.high, inside);
  const UOp rest = is_signed ? sign_of(a.high) : word(high, 0);
  return choose(less(amount, word(amount, 32)), {low, high}, {high, rest});
}

UOp is_less(Pair a, Pair b, bool is_signed) {
  const UOp high =
      is_signed ? less(signed_word(a.high), signed_word(b.high)) : less(a.high, b.high);
  return high | (equal(a.high, b.high) & less(a.low, b.low));
}

UOp is_equal(Pair a, Pair b) { return equal(a.low, b.low) & equal(a.high, b.high); }

Pair choose(UOp condition, Pair a, Pair b) {
  return {expand::choose(condition, a.low, b.low), expand::choose(condition, a.high, b.high)};
}

Pair each(Op op, Pair a, Pair b) {
  if (op == Op::Or) return {either(a.low, b.low), either(a.high, b.high)};
  return {binary(op, a.low, b.low), binary(op, a.high, b.high)};
}

Pair from(UOp x, bool is_signed) {
  if (is_half(x.dtype())) return from_float(cast(x, DType::Float32), is_signed);
  if (is_float(x.dtype())) return from_float(x, is_signed);
  if (is_unsigned(x.dtype()))
    return {cast(x, DType::UInt32), x.graph().constant(DType::UInt32, std::int64_t{0})};
  const UOp low = unsigned_word(cast(x, DType::Int32));
  return {low, x.lo() >= 0 ? word(low, 0) : sign_of(low)};
}

UOp to(Pair a, DType t, bool is_signed) {
  if (t == DType::Bool) return logical_not(is_zero(a));
  return is_float(t) ? to_float(a, t, is_signed) : cast(a.low, t);
}

// A sum is put together from the sums of 16-bit pieces, which cannot overflow.  Of a maximum, the
// high word is the greatest, and the low one the greatest beside it.
Pair reduce(Op op, Pair a, UOp lane, bool is_signed) {
  Graph& graph = a.low.graph();
  auto over_lanes = [&](Op by, UOp x) { return graph.reduce(by, x, std::span(&lane, 1)); };
  if (op == Op::Add) {
    auto sum = [&](UOp piece) { return over_lanes(Op::Add, piece); };
    const UOp mask = word(a.low, 0xffff);
    const Pair pieces[] = {{sum(a.low & mask), sum(down(a.low, 16))},
                           {sum(a.high & mask), sum(down(a.high, 16))}};
    const UOp zero = word(a.low, 0);
    const Pair low = add({pieces[0].low, zero}, {up(pieces[0].high, 16), down(pieces[0].high, 16)});
    return {low.low, plus(low.high, plus(pieces[1].low, up(pieces[1].high, 16)))};
  }
  ensure(op == Op::Max || op == Op::Min, "words: {} over lanes", info(op).name);
  const UOp ordered = is_signed ? signed_word(a.high) : a.high;
  const UOp best = over_lanes(op, ordered);
  const UOp worst = word(a.low, op == Op::Max ? 0 : 0xffffffff);
  const UOp low = over_lanes(op, where(equal(ordered, best), a.low, worst));
  return {low, unsigned_word(best)};
}

}  // namespace croze::words
