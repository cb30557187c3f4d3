// choose.h -- which edits a kernel gets.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Edits the kernel for its device from a model of its registers, caches and parallelism; measures
// nothing and recognises no operation by name.
void choose_edits(KernelState& kernel);

}  // namespace croze
