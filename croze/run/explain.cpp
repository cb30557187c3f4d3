// explain.cpp -- explanations of what run/ prepares.
#include "croze/run/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/call_notes.h"
#include "croze/run/plan.h"
#include "croze/schedule/schedule.h"

namespace croze {
namespace {

using Values = std::unordered_map<std::int64_t, UOp>;  // nodes of a graph by id

// What is computed for a launch: from what it writes back to what stands in memory.
std::vector<UOp> computed_by(const ExplainedLaunch& launch, const Schedule& schedule,
                             const Values& values) {
  std::vector<UOp> stack, nodes;
  NodeSet seen;
  const auto value_of = [&](const ScheduleBuffer& b) {
    const auto value = values.find(b.value);
    return value == values.end() ? UOp() : value->second;
  };
  for (int w : launch.writes) {
    const UOp value = value_of(schedule.buffers[static_cast<std::size_t>(w)]);
    if (value) stack.push_back(value);
  }
  const std::size_t written = stack.size();
  for (const ScheduleBuffer& b : schedule.buffers) {
    const UOp value = value_of(b);
    if (value) seen.insert(value.node());
  }
  for (std::size_t i = 0; i < written; i++) nodes.push_back(stack[i]);
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    for (UOp s : u.sources()) {
      if (!seen.insert(s.node())) continue;
      nodes.push_back(s);
      stack.push_back(s);
    }
  }
  return nodes;
}

// The nodes that depend on memory.  Others are constants, which all parts share.
NodeSet depending_on_memory(std::span<const UOp> order) {
  NodeSet depending;
  for (UOp u : order) {
    bool depends = u.is(Op::Buffer);
    for (UOp s : u.sources()) depends = depends || depending.contains(s.node());
    if (depends) depending.insert(u.node());
  }
  return depending;
}

// In the order in which they were recorded.
std::vector<std::string> parts_of(std::vector<UOp> nodes, const NodeSet& depending) {
  std::ranges::sort(nodes, {}, [](UOp u) { return u.id(); });
  std::vector<std::string> parts;
  for (UOp u : nodes) {
    const auto note = depending.contains(u.node()) ? find_note(u) : std::nullopt;
    if (!note || note->part.empty()) continue;
    if (std::ranges::find(parts, note->part) == parts.end()) parts.push_back(note->part);
  }
  return parts;
}

}  // namespace

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
  Values values;
  for (UOp u : order) values.emplace(u.id(), u);
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const auto value = values.find(schedule.buffers[i].value);
    if (value == values.end()) continue;
    if (const auto note = find_note_around(value->second, order)) {
      explanation.buffers[i].call = to_text(*note);
    }
  }
  const NodeSet depending = depending_on_memory(order);
  for (ExplainedLaunch& launch : explanation.launches) {
    launch.parts = parts_of(computed_by(launch, schedule, values), depending);
  }
  return explanation;
}

}  // namespace croze
