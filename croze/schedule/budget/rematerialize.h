// rematerialize.h -- values are made again, so that less memory is needed at once.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// Values that lie idle when most bytes of temporaries are alive get steps that make them again for
// their later readers: those first that free most bytes for the cycles that making them takes.  As
// long as more is alive at once than ScheduleContext::memory_budget; and, where more is alive than
// the caches hold, as long as it takes no more of the time than ScheduleContext::recompute_percent.
// Whether anything has changed.  `steps` are those of the graph.
bool rematerialize(std::vector<PendingStep>& steps, const CanonicalGraph& graph, Schedule& schedule,
                   const ScheduleContext& context);

}  // namespace croze
