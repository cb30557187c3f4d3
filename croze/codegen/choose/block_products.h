// block_products.h -- products of quantized numbers, of which each block has a scale.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Gives a sum over blocks, each of them a sum of products of bytes times scales, a tile in which a
// matrix unit adds up the blocks.  False, and nothing done, if the kernel is no such sum.
bool tile_block_products(KernelState& k);

}  // namespace croze
