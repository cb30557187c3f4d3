// ranges.h -- movement ops as maps of index expressions.
#pragma once

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

using IndexVector = SmallVector<UOp, 8>;

// Where a tensor is read: one Index expression per axis, and the condition under which the element
// exists at all (Bool; constant true if always).  Outside the condition nothing may be touched.
struct Position {
  IndexVector index;
  UOp gate;
};

// The position in the source of movement node `u` that lies under `at` in its result.
Position through_movement(UOp u, const Position& at);

// The position under `at` in a tensor of shape `from` that is read in shape `to`.
Position through_reshape(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                         const Position& at);

// Row-major offset of `index` in `shape`.
UOp flat_index(std::span<const UOp> index, std::span<const std::int64_t> shape, Graph& graph);

// lo <= x < hi as a Bool node, folded where bounds decide it.
UOp within(UOp x, std::int64_t lo, std::int64_t hi);
// a & b, with constant operands folded.
UOp both(UOp a, UOp b);

}  // namespace croze
