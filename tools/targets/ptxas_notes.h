// ptxas_notes.h -- what NVIDIA's assembler tells of kernels: registers, and what it had to put into
// memory because there are too few.
#pragma once

#include <string_view>
#include <vector>

#include "targets/kernel_use.h"

namespace croze::targets {

// Of each entry function, in the order of the notes.  Spills are in bytes.
std::vector<KernelUse> kernel_uses(std::string_view notes);

}  // namespace croze::targets
