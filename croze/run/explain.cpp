// explain.cpp -- explanations of what run/ prepares.
#include "croze/run/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "croze/graph/extent.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/run/buffers.h"
#include "croze/run/notes/call_notes.h"
#include "croze/run/notes/modules.h"
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

UOp memory_of(UOp target) {
  while (!target.is(Op::Buffer)) target = target.src(0);
  return target;
}

// Where the nodes of a graph come from.
class Sources {
 public:
  explicit Sources(const CanonicalGraph& graph) : graph_(graph) {
    for (UOp u : order) {
      values.emplace(u.id(), u);
      if (u.is(Op::Store)) stored_[memory_of(u.src(0)).buffer_id()].push_back(u.src(1));
    }
  }

  // What the memory of a buffer of the schedule gets.
  std::vector<UOp> values_of(const ScheduleBuffer& b) const {
    if (b.kind == ScheduleBuffer::Kind::Input) {
      const auto stored = stored_.find(b.input);
      return stored == stored_.end() ? std::vector<UOp>() : stored->second;
    }
    const auto value = values.find(b.value);
    return value == values.end() ? std::vector<UOp>() : std::vector{value->second};
  }
  // "" if the input has none.
  std::string name_of_input(std::int64_t number) const {
    const auto place = static_cast<std::size_t>(number);
    return place < graph_.inputs.size() ? name_of_buffer(graph_.inputs[place].buffer_id()) : "";
  }

 private:
  const CanonicalGraph& graph_;
  std::unordered_map<std::int64_t, std::vector<UOp>> stored_;  // by number of the input

 public:
  const std::vector<UOp> order = toposort(graph_.roots);
  const NodeSet depending = depending_on_memory(order);
  const NotesAround notes{order};
  const Modules modules{order, [this](UOp buffer) { return name_of_input(buffer.buffer_id()); }};
  Values values;
};

// A nest computes what it writes.
void add_origin(NestOrigin& nest, const Schedule& schedule, const Sources& sources) {
  for (int w : nest.writes) {
    for (UOp value : sources.values_of(schedule.buffers[static_cast<std::size_t>(w)])) {
      const CallNote* note = sources.notes.find(value);
      const bool has_own = note && note->is_gradient && !note->module.empty();
      nest.module = common_module(nest.module, has_own ? note->module : sources.modules.of(value));
      if (!note || !nest.call.empty()) continue;
      nest.call = to_text(*note);
      nest.is_gradient = note->is_gradient;
    }
  }
}

// The buffer of the schedule that each node is the memory of, or gives its value.
std::unordered_map<std::int64_t, int> buffers_of_nodes(const Schedule& schedule,
                                                       const Sources& sources) {
  std::unordered_map<std::int64_t, int> by_input, buffers;
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& b = schedule.buffers[i];
    if (b.value >= 0) buffers.try_emplace(b.value, static_cast<int>(i));
    if (b.kind == ScheduleBuffer::Kind::Input) by_input.try_emplace(b.input, static_cast<int>(i));
  }
  for (UOp u : sources.order) {
    if (!u.is(Op::Buffer) && !u.is(Op::Store)) continue;
    const auto input = by_input.find(memory_of(u).buffer_id());
    if (input != by_input.end()) buffers.try_emplace(u.id(), input->second);
  }
  return buffers;
}

std::vector<ExplainedNode> explained_nodes(const Schedule& schedule, const Sources& sources) {
  const auto buffers = buffers_of_nodes(schedule, sources);
  std::unordered_map<std::int64_t, int> numbers;
  std::vector<ExplainedNode> nodes;
  for (UOp u : sources.order) {
    numbers.emplace(u.id(), static_cast<int>(nodes.size()));
    ExplainedNode& node = nodes.emplace_back();
    node.op = info(u.op()).name;
    node.argument = text_of_argument(u);
    node.dtype = u.dtype();
    for (int axis = 0; axis < u.rank(); axis++) node.shape.push_back(u.extent(axis).most());
    for (UOp s : u.sources()) node.sources.push_back(numbers.at(s.id()));
    const auto buffer = buffers.find(u.id());
    if (buffer != buffers.end()) node.buffer = buffer->second;
    const CallNote* note = sources.notes.find(u);
    const bool has_own = note && note->is_gradient && !note->module.empty();
    node.module = has_own ? note->module : sources.modules.of(u);
    if (!note) continue;
    node.call = to_text(*note);
    node.is_gradient = note->is_gradient;
  }
  return nodes;
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
  const Sources sources(graph);
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    ExplainedBuffer& buffer = explanation.buffers[i];
    if (schedule.buffers[i].input >= 0)
      buffer.name = sources.name_of_input(schedule.buffers[i].input);
    const auto value = sources.values.find(schedule.buffers[i].value);
    if (value == sources.values.end()) continue;
    if (const CallNote* note = sources.notes.find(value->second)) buffer.call = to_text(*note);
  }
  for (ExplainedLaunch& launch : explanation.launches) {
    launch.parts = parts_of(computed_by(launch, schedule, sources.values), sources.depending);
    for (NestOrigin& nest : launch.origins) add_origin(nest, schedule, sources);
  }
  explanation.nodes = explained_nodes(schedule, sources);
  return explanation;
}

}  // namespace croze
