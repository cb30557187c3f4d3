// dot_lanes.h -- sums of products of bytes, some of which a lane adds up at once.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Gives a long sum, whose terms are short sums of products of bytes times scales, lanes in which a
// matrix unit makes the short ones.  False, and nothing done, if the kernel is no such sum.
bool take_dot_lanes(KernelState& k);

}  // namespace croze
