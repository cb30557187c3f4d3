// share_rows.h -- reductions that read the same rows, in one pass over them.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Reductions in the same place that walk along the same memory share their loop, so that it is read
// once: to be called when lanes and copies have been chosen.
void share_rows(KernelState& k);

}  // namespace croze
