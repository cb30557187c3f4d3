// idle_reductions.h -- loops of reductions do not turn for what a mask leaves out.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// A score that the mask of causal attention leaves out is computed all the same, and then replaced:
//
//     where(key < query + 1, sum over d of q[query, d] * k[key, d], -inf)
//
// And of what a query then sums up, only the first terms are any:
//
//     sum over key of where(key < query + 1, weight[query, key] * v[key, d], 0)
//
// Every loop of a reduction that is only wanted where comparisons of indices hold, or combines
// anything but its identity only there, turns where they hold for some element of the tile around
// it, and else not at all.  For kernels whose loops have their kinds, before tiles are unrolled. No
// value that is selected becomes another.
[[nodiscard]] UOp rest_idle_reductions(UOp sink);

}  // namespace croze
