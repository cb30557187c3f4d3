// order.h -- puts the steps of a schedule in an order that respects every read and write.
#pragma once

#include <vector>

#include "schedule/kernels.h"

namespace croze {

// A state is read after the steps that make it; memory is overwritten after the steps that read
// what stood there.  Among free choices the step whose inputs are youngest runs first, which keeps
// few temporaries alive.  Throws InternalError if there is no such order.
std::vector<ScheduleStep> order_steps(std::vector<PendingStep> steps);

}  // namespace croze
