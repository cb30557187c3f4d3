// summary.h -- where the time of a trace goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  std::vector<traces::Name> nodes;  // of a model file, that the launches compute
};

// What a device can do in a second, as it was measured: nothing is above this roof, but what finds
// its data in caches.
struct Roof {
  double flops = 0, bytes = 0;
};
// The roofs of a device are two facts of the trace.
std::string roof_fact(std::string_view what, std::string_view device);
std::optional<Roof> roof_of(const traces::Trace& trace, std::string_view device);
// How much of the time so much work would have to take under the roof.
double share_of_roof(const Roof& roof, double flops, double bytes, double seconds);

// The slowest first.  Together they have the time of all launches.
std::vector<TraceRow> by_kernel(const traces::Trace& trace);
// By the call of the user's that recorded what is computed, or else that asked for the run; "?"
// where neither is known.  A launch that runs a model file is called by the nodes that it computes.
std::vector<TraceRow> by_call(const traces::Trace& trace);
// By the module of the model, "blocks.0.query", forward and gradient apart; "?" where none is
// known.
//
// A launch of several loop nests is divided among their calls and modules as they were estimated.
std::vector<TraceRow> by_module(const traces::Trace& trace);

}  // namespace croze
