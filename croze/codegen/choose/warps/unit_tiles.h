// unit_tiles.h -- contractions by the matrix units of a wave.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Cuts the reduction into tiles that matrix units make.  False, and nothing done, if no unit of the
// device multiplies what it reduces, or none does in less than so many cycles (warp_model.h).
bool tile_units(KernelState& k, UOp reduce, double cycles);

}  // namespace croze
