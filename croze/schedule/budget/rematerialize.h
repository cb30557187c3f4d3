// rematerialize.h -- values are made again, so that less memory is needed at once.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// While more bytes of temporaries are alive at once than ScheduleContext::memory_budget: values
// that lie idle when most are alive get steps that make them again for their later readers.  Those
// first that free most bytes for the cycles that making them takes.  Whether anything has changed.
// `results`: the roots.
bool rematerialize(std::vector<PendingStep>& steps, std::span<const UOp> results,
                   Schedule& schedule, const ScheduleContext& context);

}  // namespace croze
