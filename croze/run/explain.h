// explain.h -- what is scheduled, explained launch by launch and buffer by buffer.
#pragma once

#include "croze/schedule/explain/explanation.h"

namespace croze {

class PreparedRun;
struct CanonicalGraph;

// Of what has been prepared.  Calls are left out.
Explanation explanation_of(const PreparedRun& prepared);
// Of a graph as prepare() would schedule it, with the calls that are noted; nothing is compiled.
Explanation explanation_of(const CanonicalGraph& graph);
// The same of the schedule that was made of the graph.
Explanation explanation_of(const CanonicalGraph& graph, const Schedule& schedule);

}  // namespace croze
