// free_early.h -- steps that set memory free run as soon as they can.
#pragma once

#include "croze/schedule/order.h"
#include "croze/schedule/schedule.h"

namespace croze {

// The same steps, in an order in which no more bytes of temporaries are alive at once than before.
StepOrder free_early(StepOrder order, const Schedule& schedule);

}  // namespace croze
