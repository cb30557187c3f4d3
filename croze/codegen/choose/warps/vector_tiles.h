// vector_tiles.h -- contractions on devices whose warps are vectors of a processor.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Cuts a reduction that uses each loaded element for several results into tiles of groups and of
// items.  False, and nothing done, if the kernel has none or takes no such tile.
bool tile_vector_warps(KernelState& k);

}  // namespace croze
