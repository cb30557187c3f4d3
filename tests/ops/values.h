// values.h -- operands worth testing: the corners of each dtype, all pairs of them, and random
// bits.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/graph/dtype.h"

namespace croze::test {

// The bits (see graph/eval.h) of corner values of the type: zeros, infinities, NaN, denormals,
// extremes, and numbers around which conversions and divisions change their minds.
std::vector<std::int64_t> corners(DType t);

// `count` tuples of `arity` values: first every pair of corners, as far as they fit, then random
// bits of the type and small numbers mixed.  Element k of tuple i stands at [k][i].
std::vector<std::vector<std::int64_t>> operands(DType t, int arity, std::int64_t count);

}  // namespace croze::test
