// square_tiles.h -- what is read down and written across goes in tiles that are transposed.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// A kernel without reductions that writes along one loop and mostly reads along another gets lanes
// along the loads and as many copies along the stores: squares, which are transposed in registers,
// in blocks of which the L1 cache keeps the lines that are begun.  False, and nothing done, where
// the kernel is none of these or the device cannot exchange lanes.
bool make_square_tiles(KernelState& k);

}  // namespace croze
