// split_loops.h -- loops cut in two where that leaves less to compute.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Splits a loop where its variable is divided by a divisor of the loop's size (r / c and r % c are
// the two new loops), or compared with one (each side of r < c is whole iterations of the outer
// loop), as long as a split leaves fewer divisions, or as many and fewer gates and choices.
void split_loops(KernelState& k);

}  // namespace croze
