// schedule.cpp -- the steps of scheduling, in order.
#include "schedule/schedule.h"

#include "schedule/kernels.h"
#include "schedule/memory_plan.h"
#include "schedule/order.h"

namespace croze {

Schedule make_schedule(const CanonicalGraph& graph, const ScheduleContext& context) {
  Schedule schedule;
  std::vector<PendingStep> steps = KernelList(graph, context, schedule).build();
  schedule.steps = order_steps(std::move(steps));
  plan_memory(schedule, context);
  return schedule;
}

}  // namespace croze
