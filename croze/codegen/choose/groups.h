// groups.h -- edits for devices whose items run in warps.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Every parallel output loop ends up as groups or items.
void choose_groups(KernelState& k);

}  // namespace croze
