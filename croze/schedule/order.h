// order.h -- puts the steps of a schedule in an order that respects every read and write.
#pragma once

#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

// The steps in order, and for each the numbers of the earlier ones that it waits for; or, if they
// wait for each other, a state that would have to be read through a copy before an order exists
// (two buffers that take each other's contents).
struct StepOrder {
  std::vector<std::vector<ScheduleStep>> steps;  // those of one PendingStep stay together
  std::vector<std::vector<int>> waits_for;
  UOp blocking;
};

// A state is read after the steps that make it; memory is overwritten after the steps that read
// what stood there.  Among free choices the step whose inputs are youngest runs first, which keeps
// few temporaries alive.
StepOrder order_steps(std::vector<PendingStep> steps);

// The same steps in another order, given by their numbers.
StepOrder in_order(const StepOrder& order, std::span<const int> steps);

}  // namespace croze
