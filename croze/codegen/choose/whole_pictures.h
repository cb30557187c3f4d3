// whole_pictures.h -- short sums over windows of small pictures.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Edits a kernel whose only reduction is over small windows of pictures that are so small that
// there may be code for each of their vectors.  False, and nothing done, if it is none.
bool take_whole_pictures(KernelState& k);

}  // namespace croze
