// amd_targets.h -- AMD's graphics processors as targets: kernels are compiled for them, and nothing
// runs.
#pragma once

#include <vector>

#include "croze/device/target.h"

namespace croze::amd {

// Of each architecture one, whose kernels are LLVM IR that libLLVM compiles to objects, from which
// ld.lld links the code object that a driver loads; and "hip", whose kernels are HIP C.
std::vector<Target> amd_targets();

}  // namespace croze::amd
