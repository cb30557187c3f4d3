// explain.cpp -- explanations of what run/ prepares.
#include "croze/run/explain.h"

#include <unordered_map>

#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/call_notes.h"
#include "croze/run/plan.h"
#include "croze/schedule/schedule.h"

namespace croze {

Explanation explanation_of(const PreparedRun& prepared) {
  return explanation_of(prepared.plan->schedule, schedule_context().caps);
}

Explanation explanation_of(const CanonicalGraph& graph) {
  return explanation_of(graph, make_schedule(graph, schedule_context()));
}

Explanation explanation_of(const CanonicalGraph& graph, const Schedule& schedule) {
  Explanation explanation = explanation_of(schedule, schedule_context().caps);
  if (!are_calls_noted()) return explanation;
  const std::vector<UOp> order = toposort(graph.roots);
  std::unordered_map<std::int64_t, UOp> values;
  for (UOp u : order) values.emplace(u.id(), u);
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const auto value = values.find(schedule.buffers[i].value);
    if (value == values.end()) continue;
    if (const auto note = find_note_around(value->second, order)) {
      explanation.buffers[i].call = to_text(*note);
    }
  }
  return explanation;
}

}  // namespace croze
