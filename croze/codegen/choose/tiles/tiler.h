// tiler.h -- the edits that make a register tile of a contraction, and blocks around it.
#pragma once

#include "croze/codegen/choose/tiles/tile_search.h"
#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// False, and the kernel is of no use, where the unit of the tile does not take what it is given.
bool apply_tile(KernelState& k, const RegisterTile& tile);

}  // namespace croze
