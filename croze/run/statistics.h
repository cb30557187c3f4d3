// statistics.h -- what was scheduled, compiled and launched, and what memory it holds, in numbers.
#pragma once

#include <cstdint>

namespace croze {

// What one run of a graph, or one replay of a captured step, does.
struct RunSummary {
  std::int64_t kernels = 0;         // launches per run
  std::int64_t nests = 0;           // loop nests in them
  std::int64_t distinct_nests = 0;  // to compile
  std::int64_t arena_bytes = 0;
  std::int64_t arena_lower_bound = 0;
};

// What a run takes, as its schedule says.
struct RunCost {
  std::int64_t bytes = 0;       // that it allocates: temporaries and results
  std::int64_t kept_aside = 0;  // values that are written twice, because memory is overwritten that
                                // is still to be read
};

// Counters since the start of the process, for benchmarks, progress lines and tests.
struct RunStatistics {
  std::int64_t kernels = 0;           // launches
  std::int64_t kernels_compiled = 0;  // by the device's compiler, not from a cache
  std::int64_t schedules_built = 0;   // found in no cache
  std::int64_t arena_bytes = 0;       // of the schedules that came into the process, together
  std::int64_t arena_lower_bound = 0;
  double schedule_seconds = 0;
  double codegen_seconds = 0;       // summed over threads
  double compile_seconds = 0;       // device compiler; summed over threads
  double compile_wall_seconds = 0;  // codegen and compiler together, as waited for
};
RunStatistics run_statistics();

struct MemoryUse {
  std::int64_t bytes = 0;  // now, in buffers
  std::int64_t peak_bytes = 0;
  std::int64_t buffers = 0;
};
// Of all devices together.
MemoryUse memory_use();

// Forgets every schedule and program kept in memory and not being made, so that the next run is
// cold.
void clear_run_caches();

}  // namespace croze
