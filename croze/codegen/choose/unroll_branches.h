// unroll_branches.h -- what a loop's variable chooses between becomes copies of the code.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Unrolls loops whose variable alone decides what is stored, if each copy has few of the choices
// left: joined tensors are copied part by part.
void unroll_branches(KernelState& k);

}  // namespace croze
