// stage.h -- tabulating an operand in fast memory.
#pragma once

#include <span>

#include "codegen/edits/kernel_state.h"

namespace croze {

struct StageOptions {
  Space space = Space::Thread;
  std::int64_t lanes = 1;      // copy with vectors of this many lanes where memory is contiguous
  std::span<const UOp> items;  // Space::Group: the Item loops that share the copying
};

// Number of elements of the tile that stage() would make.
std::int64_t tile_elements(UOp load, std::span<const UOp> inner);

// Replaces `load` by a load from a tile that holds every element it reads while the loops not in
// `inner` stand still.  `inner` is in loop order, outermost first: the tile is laid out in that
// order, so that what the innermost loop reads next lies next.  The tile is filled where the
// outermost loops it depends on have got their values (linearize.cpp); order the loops so that this
// is outside the loops that are to reuse it.
//
// Loops that the load varies over and that are not in `inner` stand around the filling of the tile:
// none of them may be lanes or unrolled, nor, for a tile of a group, items.
//
// One idea for packing panels on a CPU and shared memory on a GPU.  Gates are evaluated while
// filling: the load from the tile has none.
void stage(KernelState& k, UOp load, std::span<const UOp> inner, const StageOptions& options);

}  // namespace croze
