// plan.h -- internal to run/: what prepare() makes of a graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/run/programs.h"
#include "croze/schedule/schedule.h"

namespace croze {

class PreparedRun {
 public:
  struct Plan {  // shared by all graphs of one form, but for numbers that are compiled in
    Schedule schedule;
    std::vector<bool> is_written;  // per input: whether a root stores into it
    std::vector<std::shared_ptr<const LoadedProgram>> programs;  // per step; null for a copy
    std::int64_t bytes = 0;  // that a run allocates: its temporaries and its results
  };

  std::shared_ptr<const Plan> plan;
  std::vector<UOp> inputs;
  std::vector<std::int64_t> variables;  // of each launch: the numbers that are passed
};

// What the scheduler is told of this machine and of the options.
ScheduleContext schedule_context();

}  // namespace croze
