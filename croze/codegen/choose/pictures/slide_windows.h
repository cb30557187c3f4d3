// slide_windows.h -- short sums over windows of a picture.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Edits a kernel whose only reduction is over small windows that overlap, as of a convolution of
// each channel by itself.  False, and nothing done, if it is none.
bool slide_windows(KernelState& k);

}  // namespace croze
