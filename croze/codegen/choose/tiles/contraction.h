// contraction.h -- register and cache tiles for reductions that use each loaded element many times.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Tiles the kernel if it is a contraction (a matrix multiply, a convolution, their gradients, ...:
// a reduction at full depth whose operands each miss an output loop that another varies over) and
// large enough.  False, and nothing done, otherwise.
bool tile_contraction(KernelState& k);

}  // namespace croze
