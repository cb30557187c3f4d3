// blocks.h -- steps that pass values to each other run one after the other, block by block.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// Joins steps whose nests can be cut along common loops, so that a block of one needs the same
// block of the other only, where that is estimated to be faster.  A temporary that no other step
// wants becomes memory of a block.  `results`: the roots.
void join_by_blocks(std::vector<PendingStep>& steps, std::span<const UOp> results,
                    Schedule& schedule, const ScheduleContext& context);

}  // namespace croze
