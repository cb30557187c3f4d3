// expand.h -- unrolled loops become copies, reductions become registers.
#pragma once

#include <vector>

#include "croze/codegen/edits/item_axes.h"
#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// What the linearizer must know of a Register: the loops around the reduction it serves, in the
// middle of which it starts from the identity.
struct RegisterScope {
  RangeSet outer;
};

struct Expanded {
  UOp sink;
  std::vector<RegisterScope> registers;  // by register id
};

// Rewrites a kernel so that no Range is of kind Unroll and every Reduce left is over one Lane
// range.
//
// `items`: the axes of loops over items; what these reduce is combined by warps where they are
// known.
//
// A node that varies over Unroll ranges becomes one node per value of them.  A Reduce over loops
// becomes, per copy,
//     start  = Store(register, identity)
//     update = Store(register, op(Load(After(register, start)), value), loop ..)
//     result = Load(After(register, update))
// (a TupleReduce likewise, with a register for each of its values) with the unrolled values chained
// into one update, products as multiply-adds; then the lanes of the result are combined if a Lane
// range was reduced.
//
// Copies of a Store that are contiguous in memory where the lanes are not change places with them,
// if the device can exchange lanes.
Expanded expand(UOp sink, const Caps& caps, const ItemAxes& items = {});

}  // namespace croze
