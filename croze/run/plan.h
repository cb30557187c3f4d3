// plan.h -- internal to run/: what prepare() makes of a graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/run/cache/kept_schedules.h"
#include "croze/run/launch/launch_list.h"
#include "croze/run/programs.h"
#include "croze/schedule/explain/explanation.h"
#include "croze/schedule/schedule.h"
#include "croze/schedule/sizes/open_graph.h"

namespace croze {

class PreparedRun {
 public:
  struct Plan {  // shared by all graphs of one form, but for numbers that are compiled in
    Schedule schedule;
    std::vector<bool> is_written;  // per input: whether a root stores into it
    std::vector<std::shared_ptr<const LoadedProgram>> programs;  // per step; null for a copy
    std::int64_t bytes = 0;               // that a run allocates: its temporaries and its results
    std::vector<std::int64_t> variables;  // of each launch, if the schedule is one with_sizes()
    std::shared_ptr<KeptLaunchLists> launch_lists = std::make_shared<KeptLaunchLists>();
    // While the program is traced: with the calls that recorded what the schedule computes.
    std::shared_ptr<const Explanation> explanation;
  };

  std::shared_ptr<const Plan> plan;
  std::vector<UOp> inputs;
  std::vector<std::int64_t> variables;  // of each launch: the numbers that are passed
};

// Schedules the graph and loads its programs.  A graph without a key is scheduled anew in each
// process.
std::shared_ptr<const PreparedRun::Plan> make_plan(const CanonicalGraph& graph,
                                                   const ScheduleKey& key = {});
// A plan for open sizes, as what a recording is an instance of.
std::shared_ptr<const PreparedRun::Plan> plan_of_instance(const PreparedRun::Plan& open,
                                                          OpenGraph::Instance instance);
// From now on the plan is that of the graph, which others will find.
std::shared_ptr<const PreparedRun> prepare(const CanonicalGraph& graph,
                                           std::shared_ptr<const PreparedRun::Plan> plan);

// What the scheduler is told of this machine and of the options.
ScheduleContext schedule_context();

}  // namespace croze
