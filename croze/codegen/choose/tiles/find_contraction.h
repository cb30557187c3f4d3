// find_contraction.h -- the reduction of a kernel that is worth tiles.
#pragma once

#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// The longest reduction of the kernel that uses what it loads several times, or null.  Beside it
// there may be reductions over the same loops, and small ones that can be unrolled.
UOp find_contraction(const KernelState& k);

// The reduction over exactly these loops, or null.
UOp reduction_over(const KernelState& k, const std::vector<UOp>& ranges);

}  // namespace croze
