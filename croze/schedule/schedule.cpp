// schedule.cpp -- the steps of scheduling, in order.
#include "schedule/schedule.h"

#include "schedule/kernels.h"
#include "schedule/memory_plan.h"
#include "schedule/order.h"

namespace croze {

Schedule make_schedule(const CanonicalGraph& graph, const ScheduleContext& context) {
  std::vector<UOp> copied;  // states that are read through a copy, so that the steps have an order
  for (;;) {
    Schedule schedule;
    StepOrder order = order_steps(KernelList(graph, context, copied, schedule).build());
    if (order.blocking) {
      copied.push_back(order.blocking);
      continue;
    }
    schedule.steps = std::move(order.steps);
    plan_memory(schedule, context);
    return schedule;
  }
}

}  // namespace croze
