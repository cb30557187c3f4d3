// groups.h -- edits for devices that run groups of items.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Output loops become groups and items; a contraction gets register tiles per item and its operands
// staged in group memory, a slice of the reduction at a time.
void choose_groups(KernelState& k);

}  // namespace croze
