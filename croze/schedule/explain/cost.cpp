// cost.cpp -- arithmetic and bytes of loop nests.
#include "croze/schedule/explain/cost.h"

#include <algorithm>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/collapse.h"
#include "croze/codegen/estimate.h"
#include "croze/codegen/simplify.h"
#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "croze/schedule/blocks/block_cost.h"

namespace croze {
namespace {

double cycles_of_bytes(std::int64_t bytes, const Caps& caps) {
  const auto count = static_cast<double>(bytes);
  return count * MachineModel(caps).cycles_per_byte(count);
}

}  // namespace

NestCost nest_cost(UOp sink, bool may_be_shared) {
  const BlockedNest nest = blocked_nest(sink);
  ProgramInfo info = estimate(sink);
  return {.name = std::move(info.name),
          .flops = info.flops,
          .bytes = bytes_touched(sink),
          .arithmetic = nest.cycles,
          .is_shared = nest.is_parallel && may_be_shared};
}

NestCost nest_cost(const Kernel& kernel, bool may_be_shared) {
  Graph graph;
  // As codegen/pipeline.cpp has it before the edits.
  const UOp simple = simplify_kernel(graph.import(kernel.sink));
  return nest_cost(simplify_kernel(collapse_reductions(simple)), may_be_shared);
}

Traffic traffic_of(const Schedule& schedule, const ScheduleStep& step, const NestCost& cost) {
  Traffic traffic;
  for (std::size_t slot = 0; slot < cost.bytes.size(); slot++) {
    const ScheduleBuffer& b = schedule.buffers[static_cast<std::size_t>(step.buffers[slot])];
    const bool in_block = b.kind == ScheduleBuffer::Kind::Block;
    (in_block ? traffic.in_block : traffic.apart) += cost.bytes[slot];
  }
  return traffic;
}

std::int64_t runs_of(const Schedule& schedule, const ScheduleStep& step, const Caps& caps) {
  if (!is_in_blocks(step)) return 1;
  const auto& sequence = schedule.sequences[static_cast<std::size_t>(step.sequence)];
  const auto first = std::ranges::find(schedule.steps, step.sequence, &ScheduleStep::sequence);
  const bool in_prelude = &step - &*first < static_cast<std::ptrdiff_t>(sequence.prelude);
  const std::int64_t blocks = count_blocks(sequence.blocks);
  return in_prelude ? std::min(blocks, caps.threads) : blocks;
}

double cycles_of(const NestCost& cost, const Traffic& traffic, std::int64_t blocks,
                 const Caps& caps) {
  const std::int64_t all = caps.threads;
  const std::int64_t threads = cost.is_shared ? all : std::min(blocks, all);
  const double shared = cost.arithmetic / static_cast<double>(threads);
  const double once =
      shared + cycles_of_bytes(traffic.apart, caps) + cycles_of_bytes(traffic.in_block, caps);
  return once * static_cast<double>(blocks);
}

}  // namespace croze
