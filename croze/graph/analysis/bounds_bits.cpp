// bounds_bits.cpp -- the interval of and, or and exclusive or, exact for all operands.
#include <algorithm>
#include <bit>

#include "croze/graph/analysis/interval.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Wide = __int128;

constexpr Wide two_to_64 = Wide{1} << 64;

// Integers of one sign as 64-bit patterns, in the order of the numbers.
struct Patterns {
  bool negative;
  std::uint64_t lo, hi;
};

int patterns_of(const Interval& x, Patterns out[2]) {
  int count = 0;
  auto part = [&](bool negative, Wide lo, Wide hi) {
    if (lo > hi) return;
    out[count++] = {negative, static_cast<std::uint64_t>(lo), static_cast<std::uint64_t>(hi)};
  };
  part(true, x.lo, std::min<Wide>(x.hi, -1));
  part(false, std::max<Wide>(x.lo, 0), x.hi);
  return count;
}

bool bit_of(Op op, bool a, bool b) {
  return op == Op::And ? a && b : op == Op::Or ? a || b : a != b;
}

// The least or greatest a `op` b, bit by bit from the highest.  A state says of both operands
// whether their bits so far are those of `lo`, and of `hi`, which then limit the next bit; the
// states that gave the best bits so far are kept, as a set.
class Extreme {
 public:
  Extreme(Op op, const Patterns& a, const Patterns& b, bool greatest)
      : op_(op), a_(a), b_(b), greatest_(greatest) {}

  Wide value() {
    std::uint64_t result = 0;
    unsigned states = 1u << 15;  // all four limits hold
    // Above the highest bit of any limit there are zeros only, and they all still hold.
    for (int bit = static_cast<int>(std::bit_width(a_.hi | b_.hi)); bit-- > 0;) {
      unsigned next[2] = {0, 0};  // by the bit of the result
      for (unsigned s = 0; s < 16; s++) {
        if (states >> s & 1) extend(s, bit, next);
      }
      const bool best = next[greatest_] != 0 ? greatest_ : !greatest_;
      states = next[best];
      result |= std::uint64_t{best} << bit;
    }
    const bool negative = bit_of(op_, a_.negative, b_.negative);
    return Wide{result} - (negative ? two_to_64 : Wide{0});
  }

 private:
  void extend(unsigned s, int bit, unsigned next[2]) const {
    for (unsigned x = 0; x < 2; x++) {
      for (unsigned y = 0; y < 2; y++) {
        const int p = follow(s & 3, x, a_, bit), q = follow(s >> 2, y, b_, bit);
        if (p >= 0 && q >= 0) next[bit_of(op_, x, y)] |= 1u << (p | q << 2);
      }
    }
  }

  // The limits that hold after this bit, -1 if it breaks one.
  static int follow(unsigned limits, unsigned value, const Patterns& p, int bit) {
    const unsigned lo = p.lo >> bit & 1, hi = p.hi >> bit & 1;
    if (((limits & 1) && value < lo) || ((limits & 2) && value > hi)) return -1;
    return ((limits & 1) && value == lo ? 1 : 0) | ((limits & 2) && value == hi ? 2 : 0);
  }

  Op op_;
  Patterns a_, b_;
  bool greatest_;
};

// The largest power of two that divides every value; 0 for zero.
i64 power_of_two(i64 multiple) { return multiple & -multiple; }

}  // namespace

Interval bitwise_interval(Op op, const Interval& a, const Interval& b) {
  Patterns as[2], bs[2];
  const int num_a = patterns_of(a, as), num_b = patterns_of(b, bs);
  Interval result;
  for (int i = 0; i < num_a * num_b; i++) {
    const Patterns &x = as[i % num_a], &y = bs[i / num_a];
    const Interval part{Extreme(op, x, y, false).value(), Extreme(op, x, y, true).value()};
    if (i == 0) result = part;
    result = {std::min(result.lo, part.lo), std::max(result.hi, part.hi)};
  }
  const i64 p = power_of_two(a.multiple), q = power_of_two(b.multiple);
  if (p == 0 || q == 0) {
    result.multiple = op == Op::And ? 0 : p | q;
  } else {
    result.multiple = op == Op::And ? std::max(p, q) : std::min(p, q);
  }
  return result;
}

}  // namespace croze
