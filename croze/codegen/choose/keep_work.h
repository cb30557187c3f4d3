// keep_work.h -- what is dear to compute is computed once.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Exponentials and the like that two loops over one row compute alike, as those of a softmax for
// its sum and for its result, are kept in a tile.
void keep_work(KernelState& k);

}  // namespace croze
