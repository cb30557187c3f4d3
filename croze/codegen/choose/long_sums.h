// long_sums.h -- long sums of floats are made of shorter ones.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Lets sums of more terms than are well added one to the other go in turns, where they are in
// registers and no tile is filled for them.
void shorten_sums(KernelState& k);

}  // namespace croze
