// interval.h -- interval arithmetic behind derived bounds, and behind the conditions of rules.
#pragma once

#include <cstdint>
#include <span>

#include "croze/graph/uop.h"

namespace croze {

// lo <= value <= hi and value % multiple == 0 (0: the value is zero).  Wide enough for the exact
// result of any operation on 64-bit operands.
struct Interval {
  __int128 lo = 0, hi = 0;
  std::int64_t multiple = 1;

  bool is_point() const { return lo == hi; }
  bool contains(__int128 v) const { return lo <= v && v <= hi; }
};

// All values of an integral type.
Interval whole(DType t);

// The values of an integral node.
Interval interval_of(UOp u);

// The result of an elementwise op on integers (not of a cast), before it is wrapped to `t`.
// Comparisons give 0 or 1.
Interval interval_of(Op op, DType t, std::span<const Interval> operands);

// The same of And, Or and Xor, with the powers of two that divide the result.
Interval bitwise_interval(Op op, const Interval& a, const Interval& b);

}  // namespace croze
