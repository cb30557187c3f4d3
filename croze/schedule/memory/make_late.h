// make_late.h -- steps that only take memory wait until somebody wants what they make.
#pragma once

#include "croze/schedule/order.h"
#include "croze/schedule/schedule.h"

namespace croze {

// The order, or one of which fewer bytes are alive at once: each step that reads no temporary comes
// right before the first that waits for it.
StepOrder make_late(StepOrder order, const Schedule& schedule);

}  // namespace croze
