// ranges.h -- movement ops as maps of index expressions.
#pragma once

#include <cstdint>
#include <span>

#include "croze/base/small_vector.h"
#include "croze/graph/extent.h"
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

// The position in `from` under `at` in `to`, which holds the same elements in another shape.
Position through_reshape(UOp from, UOp to, const Position& at);

// The shape of a node in which sizes may be open.
Extents extents_of(UOp u);

// Row-major offset of `index` in `shape`.
UOp flat_index(std::span<const UOp> index, const Extents& shape, Graph& graph);

// 0 <= x < size as a Bool node, folded where bounds decide it.
UOp within(UOp x, Extent size);
// a & b, with constant operands folded.
UOp both(UOp a, UOp b);

// In how many iterations of a loop, from each multiple of their number on, the position stays where
// it is: that of a scale that 32 elements share in 32.  `unused` and the number behind it are the
// id of no loop that the position varies over.
std::int64_t run_along(const Position& at, UOp range, std::int64_t unused);

}  // namespace croze
