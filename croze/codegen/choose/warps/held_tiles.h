// held_tiles.h -- products of products on devices whose units are those of warps.
#pragma once

#include <optional>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Gives two products, of which the second takes what is made of the first, one pass over the terms
// of the second, in which warps hold what the first makes (edits/warps/held_product.h).  False, and
// nothing done, if the kernel has no such products or takes no such tile.
bool tile_held_products(KernelState& k);

// How many cycles such a kernel takes, all units working side by side; nothing if it would not be
// tiled so.
std::optional<double> cycles_of_held_products(const KernelState& k);

}  // namespace croze
