// recompute.h -- large values that blocks of different axes want are made for each.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// Before steps are joined by blocks: a value that is much larger than what it is made of, and that
// its readers want along different axes, gets a step of its own for each, where computing it again
// is estimated to cost less than keeping it whole.  `results`: the roots.
void recompute_by_blocks(std::vector<PendingStep>& steps, std::span<const UOp> results,
                         Schedule& schedule, const ScheduleContext& context);

}  // namespace croze
