// merge.h -- loop nests that pass values to each other become one.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// Merges steps that compute values (no assignments, scatters or copies) while it saves memory
// traffic.  `results`: states that are wanted after the last step.
void merge_steps(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule,
                 const ScheduleContext& context);

}  // namespace croze
