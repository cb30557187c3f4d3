// choose.h -- which edits a kernel gets.
#pragma once

#include "codegen/edits/kernel_state.h"
#include "device/caps.h"

namespace croze {

// Edits the kernel for the device from a model of its registers, caches and parallelism; measures
// nothing and recognises no operation by name.
void choose_edits(KernelState& kernel, const Caps& caps);

}  // namespace croze
