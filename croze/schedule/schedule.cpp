// schedule.cpp -- the steps of scheduling, in order.
#include "croze/schedule/schedule.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/observer.h"
#include "croze/schedule/blocks/blocks.h"
#include "croze/schedule/budget/rematerialize.h"
#include "croze/schedule/free_early.h"
#include "croze/schedule/kernels.h"
#include "croze/schedule/launches.h"
#include "croze/schedule/memory/make_late.h"
#include "croze/schedule/memory/memory_plan.h"
#include "croze/schedule/merge.h"
#include "croze/schedule/order.h"
#include "croze/schedule/parts/in_parts.h"
#include "croze/schedule/recompute.h"
#include "croze/schedule/sums/chain_products.h"
#include "croze/schedule/sums/exchange.h"
#include "croze/schedule/sums/phases.h"

namespace croze {

namespace {

// Steps become nests of one kernel, or run block by block, where that pays.
void join_steps(std::vector<PendingStep>& steps, const CanonicalGraph& graph, Schedule& schedule,
                const ScheduleContext& context) {
  if (!context.fuse || steps.size() < 2) return;
  exchange_sums(steps, graph.roots, context);
  merge_steps(steps, graph.roots, schedule, context);
  if (rematerialize(steps, graph, schedule, context)) {
    merge_steps(steps, graph.roots, schedule, context);
  }
  if (!graph.variables.empty()) return;  // blocks are cut out of loops of constant size
  chain_products(steps, graph.roots, context);
  recompute_by_blocks(steps, graph.roots, schedule, context);
  join_by_blocks(steps, graph.roots, schedule, context);
}

// Buffers hold values of the graph that came in.
void name_values(Schedule& schedule, const GraphInParts& parts) {
  for (ScheduleBuffer& b : schedule.buffers) {
    const auto known = parts.stands_for.find(b.value);
    if (known != parts.stands_for.end()) b.value = known->second;
  }
}

}  // namespace

Schedule make_schedule(const CanonicalGraph& whole, const ScheduleContext& context) {
  const GraphInParts parts = in_parts(whole, context);
  const CanonicalGraph& graph = parts.graph;
  std::vector<UOp> copied;  // states that are read through a copy, so that the steps have an order
  for (;;) {
    Schedule schedule;
    std::vector<PendingStep> steps = KernelList(graph, context, copied, schedule).build();
    join_steps(steps, graph, schedule, context);
    if (context.fuse) split_phases(steps, context);
    detach_kernels(steps);
    StepOrder order = order_steps(std::move(steps));
    if (order.blocking) {
      ensure(std::ranges::find(copied, order.blocking) == copied.end(),
             "the steps of a schedule wait for each other, though a copy is read");
      copied.push_back(order.blocking);
      continue;
    }
    if (order.steps.size() > 1) order = free_early(make_late(std::move(order), schedule), schedule);
    join_launches(std::move(order), schedule, context);
    if (graph.variables.empty()) plan_memory(schedule, context);  // else with_sizes() does
    name_values(schedule, parts);
    tell_observers([&](CompileObserver& o) { o.scheduled(whole, schedule); });
    return schedule;
  }
}

ScheduleChain chain_at(const Schedule& schedule, int first, int last) {
  const auto sequence_of = [&](int i) {
    return schedule.steps[static_cast<std::size_t>(i)].sequence;
  };
  const int sequence = sequence_of(first);
  if (sequence < 0) return {first, first + 1, nullptr};
  int end = first + 1;
  while (end < last && sequence_of(end) == sequence) end++;
  return {first, end, &schedule.sequences[static_cast<std::size_t>(sequence)]};
}

Schedule with_sizes(const Schedule& open, std::span<const std::int64_t> variables,
                    std::span<const int> inputs, const ScheduleContext& context) {
  Schedule schedule = open;
  for (ScheduleBuffer& b : schedule.buffers) {
    if (b.input >= 0) b.input = inputs[static_cast<std::size_t>(b.input)];
    if (b.count.is_constant()) continue;
    b.elements = b.count.value(variables);
    b.count = b.elements;
    b.shape.clear();
  }
  plan_memory(schedule, context);
  return schedule;
}

}  // namespace croze
