// kept_schedules.h -- internal to run/: schedules on disk, so that a large graph is scheduled once
// per machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "croze/schedule/schedule.h"

namespace croze {

// A graph by what a schedule of it depends on beside this machine and this compiler.
struct ScheduleKey {
  std::string_view text;      // one text for each graph and the options that count
  std::size_t variables = 0;  // of a launch
};

// The schedule of the graph: the one on disk, or else one that is made now, and kept if to make it
// takes longer than to find it.  While somebody watches the compile, it is made.
Schedule kept_or_made(const CanonicalGraph& graph, const ScheduleKey& key,
                      const ScheduleContext& context);

}  // namespace croze
