// cost.h -- what a loop nest of a schedule costs, as far as that can be told without compiling it.
//
// Cycles are those of the model that sequences are cut into blocks by
// (schedule/blocks/block_cost.h): the arithmetic of the nest, shared by the threads where it is
// large, and its bytes on their way from the caches with all threads at it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/device/caps.h"
#include "croze/schedule/schedule.h"

namespace croze {

struct NestCost {
  std::string name;                 // after its loops: "reduce_512_r1000"
  std::int64_t flops = 0;           // of a run
  std::vector<std::int64_t> bytes;  // distinct ones, by parameter
  double arithmetic = 0;            // cycles of one thread
  bool is_shared = false;           // among the threads: it is large enough
};

// Of a simplified kernel, whose work threads may share or not.
NestCost nest_cost(UOp sink, bool may_be_shared);
// Of a kernel as it was scheduled.
NestCost nest_cost(const Kernel& kernel, bool may_be_shared);

// Of the buffers of a nest, the bytes of those that are memory of a block and of those that are
// not.
struct Traffic {
  std::int64_t in_block = 0, apart = 0;
};
Traffic traffic_of(const Schedule& schedule, const ScheduleStep& step, const NestCost& cost);

inline bool is_in_blocks(const ScheduleStep& step) { return step.sequence >= 0; }
// How often a nest of the schedule runs in a launch: for each block, or in a prelude for each
// thread.
std::int64_t runs_of(const Schedule& schedule, const ScheduleStep& step, const Caps& caps);

// Cycles of a nest that runs so many times, over a block each time.
double cycles_of(const NestCost& cost, const Traffic& traffic, std::int64_t blocks,
                 const Caps& caps);

}  // namespace croze
