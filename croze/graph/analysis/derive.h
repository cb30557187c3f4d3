// derive.h -- what follows from a node's parts: result dtype, shape, bounds, open ranges.
// Called once per node by Graph::make.
#pragma once

#include <span>

#include "croze/base/small_vector.h"
#include "croze/graph/extent.h"
#include "croze/graph/uop.h"

namespace croze {

using Dims = SmallVector<std::int64_t, 8>;

// Result dtype of an elementwise op that is not Cast or Bitcast.
DType result_dtype(Op op, std::span<const UOp> src);

// Shape of the node.  Throws InternalError naming the op if the sources do not fit it.
Extents derive_shape(Op op, std::span<const UOp> src, const Arg& arg);

// Integer range and divisibility of an integral node; {} for others.
Bounds derive_bounds(Op op, DType dtype, std::span<const UOp> src, const Arg& arg);

// The loops the value varies over: those of the sources, less those the op closes.
RangeSet derive_ranges(Op op, std::span<const UOp> src, const Arg& arg);

}  // namespace croze
