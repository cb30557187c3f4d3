// counters.h -- internal to run/: what RunStatistics is read from, counted by all threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace croze {

struct RunCounters {
  std::atomic<std::int64_t> kernels{0};
  std::atomic<std::int64_t> kernels_compiled{0};
  std::atomic<std::int64_t> schedules_built{0};
  std::atomic<std::int64_t> arena_bytes{0};
  std::atomic<std::int64_t> arena_lower_bound{0};
  std::atomic<double> schedule_seconds{0};
  std::atomic<double> codegen_seconds{0};
  std::atomic<double> compile_seconds{0};
  std::atomic<double> compile_wall_seconds{0};
};

// Process-wide: named in docs/architecture.md as global state.
RunCounters& run_counters();

}  // namespace croze
