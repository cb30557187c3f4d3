// in_parts.h -- long reductions with few results, in parts that threads or groups share.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "croze/schedule/schedule.h"

namespace croze {

struct GraphInParts {
  CanonicalGraph graph;  // in the same Graph
  // Nodes that are not of the graph before, by id: the id of that which each stands for.
  std::unordered_map<std::int64_t, std::int64_t> stands_for;
};

// The graph, each reduction of which that threads or groups could not share is one of parts and one
// of what they come to: the parts are stored in between.
GraphInParts in_parts(const CanonicalGraph& graph, const ScheduleContext& context);

}  // namespace croze
