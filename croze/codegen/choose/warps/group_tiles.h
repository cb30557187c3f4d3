// group_tiles.h -- contractions on devices whose items run in warps.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Cuts a reduction that uses each loaded element many times into tiles of groups and of items.
// False, and nothing done, if the kernel has none or takes no such tile.
bool tile_groups(KernelState& k);

// The same by a matrix unit of the device, whatever that costs.
bool tile_by_units(KernelState& k);

// Groups and items around all else, `innermost` last of them.
void order_for_items(KernelState& k, UOp innermost);

// The output loops that are left become groups, in front of everything else.
void bind_groups(KernelState& k);

}  // namespace croze
