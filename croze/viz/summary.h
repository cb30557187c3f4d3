// summary.h -- where the time of a trace goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/trace/trace.h"

namespace croze {

// Launches that are counted together.
struct TraceRow {
  std::string name, device;
  std::int64_t launches = 0;
  double seconds = 0;
  double least_seconds = 0;  // of one
  double flops = 0, bytes = 0;
};

// The slowest first.  Together they have the time of all launches.
std::vector<TraceRow> by_kernel(const traces::Trace& trace);
// By the call of the user's that recorded what is computed, or else that asked for the run; "?"
// where neither is known.
std::vector<TraceRow> by_call(const traces::Trace& trace);

}  // namespace croze
