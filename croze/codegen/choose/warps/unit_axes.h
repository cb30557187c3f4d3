// unit_axes.h -- what choosers share that cut loops for matrix units of waves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// The loop over what the unit has of an axis, `size`; what is around it becomes waves and copies.
UOp cut_axis(KernelState& k, UOp range, std::int64_t waves, std::int64_t copies, std::int64_t size);

// Where the load reads, but for the loops that stand around a block: what its tile extends over,
// the lanes innermost.
std::vector<UOp> ranges_of_operand(const KernelState& k, UOp load, std::span<const UOp> steps,
                                   UOp thread);

}  // namespace croze
