// memory_plan.h -- temporaries packed into one arena per device.
#pragma once

#include "croze/schedule/schedule.h"

namespace croze {

// Gives every temporary of the schedule an offset in its device's arena such that two that are
// alive at once do not overlap, and fills schedule.arenas.  `alignment` in bytes.
void plan_memory(Schedule& schedule, const ScheduleContext& context);

}  // namespace croze
