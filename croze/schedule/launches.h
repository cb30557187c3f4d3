// launches.h -- which steps run at once.
#pragma once

#include "croze/schedule/order.h"
#include "croze/schedule/schedule.h"

namespace croze {

// Fills schedule.steps and schedule.launches: steps that wait for nothing of each other are moved
// together into one launch where the device can run several loop nests as one kernel.
void join_launches(StepOrder order, Schedule& schedule, const ScheduleContext& context);

}  // namespace croze
