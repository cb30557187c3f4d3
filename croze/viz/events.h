// events.h -- internal to viz/: what happened on each row, as nested events, and to memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/trace/trace.h"

namespace croze {

struct TraceEvent {
  std::int64_t start = 0, duration = 0;
  std::uint32_t name = 0;  // of EventRows::names
  bool is_launch = false;
  std::uint32_t number = 0;  // among the launches or scopes of the trace
};

struct EventRows {
  std::vector<std::string> names;
  std::vector<std::vector<TraceEvent>> rows;  // by start, outer events before inner ones
};

EventRows event_rows(const traces::Trace& trace);

struct MemoryChange {
  std::int64_t time = 0, bytes = 0;  // released: less than none
  std::string_view device;
};

// What is allocated and released, in the order of time.
std::vector<MemoryChange> memory_changes(const traces::Trace& trace);

}  // namespace croze
