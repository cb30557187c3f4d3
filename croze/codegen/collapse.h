// collapse.h -- sums in closed form.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// Sums over a range that only counts, or only finds one place, lose the loop:
//
//     sum over r of x                          size * x
//     sum over r of where(l <= r < u, x, 0)    length of [l, u) in the range * x
//     sum over r of where(r == p, f(r), 0)     where(0 <= p < size, f(p), 0)
//
// and sums over a part of a range, where(l <= r < u, f(r), 0) or where(r % m == k, f(r), 0) with
// constants l, u, m and k, run over the part only.  A product of loads is 0 outside of the gates
// that all of them have, as if it were selected.  x does not vary over r.  Sums of floats change
// only where nothing is rounded either way.  `sink` is a kernel in the normal form of the rules.
[[nodiscard]] UOp collapse_reductions(UOp sink);

}  // namespace croze
