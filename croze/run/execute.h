// execute.h -- from tensor graph to results: schedule, compile, launch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/uop.h"

namespace croze {

// Computes every root of a tensor graph and returns, in order, the node that now stands for its
// value: a Reshape of a Buffer (the Buffer itself if the root is flat), or the assigned view for a
// root that is a view of After(buffer, Store(view, value)).  A root that is a view of a Buffer
// already is returned as it is.  All roots are scheduled together.
std::vector<UOp> realize(std::span<const UOp> roots);

// The same in two steps, for work that is done again and again: everything but the launches is done
// by prepare().  A PreparedRun keeps no Buffer alive; it stands for any buffers of the same shapes.
class PreparedRun;
std::shared_ptr<const PreparedRun> prepare(std::span<const UOp> roots);

// The Buffer nodes that the roots read or assign, in the order in which run() takes them.
std::span<const UOp> inputs_of(const PreparedRun& prepared);

// Launches over `inputs` (as inputs_of, or others of the same dtype, size and device in their
// place). Returns, per root, a new Buffer (flat) with the value; a null UOp for a root that only
// assigns.
std::vector<UOp> run(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results);

// What a prepared run does, for reports.
struct RunSummary {
  std::int64_t kernels = 0;  // launches per run
  std::int64_t distinct_kernels = 0;
  std::int64_t arena_bytes = 0;
  std::int64_t arena_lower_bound = 0;
};
RunSummary summary_of(const PreparedRun& prepared);

// Counters since the start of the process, for benchmarks, progress lines and tests.
struct RunStatistics {
  std::int64_t kernels = 0;           // launches
  std::int64_t kernels_compiled = 0;  // by the device's compiler, not from a cache
  std::int64_t schedules_built = 0;   // not found in the schedule cache
  double schedule_seconds = 0;
  double codegen_seconds = 0;       // summed over threads
  double compile_seconds = 0;       // device compiler; summed over threads
  double compile_wall_seconds = 0;  // codegen and compiler together, as waited for
};
RunStatistics run_statistics();

// Forgets every schedule and program kept in memory, so that the next run is cold.
void clear_run_caches();

}  // namespace croze
