// execute.cpp -- from tensor graph to results, in three steps: schedule, load programs, launch.
#include "run/execute.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "graph/graph.h"
#include "graph/rule_set.h"
#include "graph/spec.h"
#include "run/buffers.h"
#include "run/devices.h"
#include "run/programs.h"
#include "schedule/schedule.h"

namespace croze {

class PreparedRun {
 public:
  struct Plan {  // shared by all graphs of one form
    Schedule schedule;
    std::vector<std::shared_ptr<LoadedProgram>> programs;  // per step; null for a copy
  };

  std::shared_ptr<const Plan> plan;
  std::vector<UOp> inputs;
};

namespace {

using Clock = std::chrono::steady_clock;
using Plan = PreparedRun::Plan;

constexpr std::size_t max_plans = 1024;

// Process-wide: named in docs/architecture.md as global state.
struct RunState {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans;  // by canonical graph
  std::unordered_map<int, Memory> arenas;                              // by device; grown on demand
  RunStatistics statistics;
};

RunState& state() {
  static RunState& instance = *new RunState;  // never destroyed: its memory belongs to devices
  return instance;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const Caps& caps_of(int index) { return device(index).caps(); }

// What the environment asks to be told of rules.
void observe_rules() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Options::flag(Option::RuleStats)) {
      start_rule_statistics();
    } else if (log_enabled(7)) {
      start_rule_log();
    }
  });
}

std::shared_ptr<const Plan> make_plan(const CanonicalGraph& graph) {
  observe_rules();
  if (Options::flag(Option::CheckSpec)) {
    for (UOp root : graph.roots) check_tensor_graph(root);
  }
  const Clock::time_point start = Clock::now();
  auto plan = std::make_shared<Plan>();
  plan->schedule = make_schedule(graph, {caps_of, default_device()});
  state().statistics.schedules_built++;
  state().statistics.schedule_seconds += seconds_since(start);

  std::vector<KernelRequest> requests;
  for (const ScheduleStep& step : plan->schedule.steps) {
    if (step.kernel) requests.push_back({step.kernel, step.device});
  }
  auto programs = load_programs(requests, state().statistics);
  auto next = programs.begin();
  for (const ScheduleStep& step : plan->schedule.steps) {
    plan->programs.push_back(step.kernel ? *next++ : nullptr);
  }
  log_line(1, "schedule of {} kernels and {} copies, ready in {:.1f} ms", requests.size(),
           plan->schedule.steps.size() - requests.size(), seconds_since(start) * 1e3);
  return plan;
}

// ---- launching --------------------------------------------------------------------------------

Memory arena(const ArenaPlan& plan) {
  Memory& memory = state().arenas[plan.device];
  if (memory.bytes >= plan.bytes) return memory;
  Device& d = device(plan.device);
  d.synchronize();
  if (memory.handle) d.release(memory);
  memory = {};
  memory = d.allocate(plan.bytes);
  return memory;
}

std::vector<MemoryView> bind_buffers(const Schedule& schedule, std::span<const UOp> inputs,
                                     std::span<const UOp> outputs) {
  std::unordered_map<int, Memory> arenas;
  for (const ArenaPlan& plan : schedule.arenas) arenas[plan.device] = arena(plan);
  std::vector<MemoryView> views;
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& b = schedule.buffers[i];
    switch (b.kind) {
      case ScheduleBuffer::Kind::Input:
        views.push_back(buffer_memory(inputs[static_cast<std::size_t>(b.input)]));
        break;
      case ScheduleBuffer::Kind::Output: views.push_back(buffer_memory(outputs[i])); break;
      case ScheduleBuffer::Kind::Temporary:
        views.push_back({arenas[b.device], b.arena_offset, b.bytes()});
    }
  }
  return views;
}

void copy_between(const ScheduleBuffer& to, MemoryView to_view, const ScheduleBuffer& from,
                  MemoryView from_view) {
  std::vector<std::byte> host(static_cast<std::size_t>(from.bytes()));
  device(from.device).copy_out(host, from_view);
  device(to.device).copy_in(to_view, host);
}

// One line per kernel: waits for it, so that the time is its own.
void launch_timed(const LoadedProgram& program, Device& d, std::span<const MemoryView> buffers) {
  d.synchronize();
  const Clock::time_point start = Clock::now();
  program.program->launch(buffers, {});
  d.synchronize();
  const double seconds = seconds_since(start);
  const Launch& l = program.info.launch;
  log_line(2, "{:<6} {:<40} {:>4} x {:<4} {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s", d.name(),
           program.info.name, l.tasks * l.groups[0] * l.groups[1] * l.groups[2],
           l.items[0] * l.items[1] * l.items[2], seconds * 1e6,
           static_cast<double>(program.info.flops) / seconds * 1e-9,
           static_cast<double>(program.info.bytes) / seconds * 1e-9);
}

void launch_all(const Plan& plan, std::span<const MemoryView> views) {
  const Schedule& schedule = plan.schedule;
  const bool timed = log_enabled(2);
  std::vector<MemoryView> buffers;
  for (std::size_t i = 0; i < schedule.steps.size(); i++) {
    const ScheduleStep& step = schedule.steps[i];
    buffers.clear();
    for (int b : step.buffers) buffers.push_back(views[static_cast<std::size_t>(b)]);
    if (!step.kernel) {
      copy_between(schedule.buffers[static_cast<std::size_t>(step.buffers[0])], buffers[0],
                   schedule.buffers[static_cast<std::size_t>(step.buffers[1])], buffers[1]);
      continue;
    }
    state().statistics.kernels++;
    if (timed) {
      launch_timed(*plan.programs[i], device(step.device), buffers);
    } else {
      plan.programs[i]->program->launch(buffers, {});
    }
  }
}

void log_schedule(const Schedule& schedule) {
  if (!log_enabled(3)) return;
  for (const ArenaPlan& a : schedule.arenas) {
    log_line(3, "schedule: {} steps, arena of {} {} bytes (lower bound {})", schedule.steps.size(),
             device_name(a.device), a.bytes, a.lower_bound);
  }
}

// ---- results ----------------------------------------------------------------------------------

// A view of assigned memory: the same view of the buffer itself.
UOp without_after(UOp u) {
  std::vector<UOp> views;
  while (!u.is(Op::Buffer)) {
    if (!u.is(Op::After)) views.push_back(u);
    u = u.src(0);
  }
  for (; !views.empty(); views.pop_back()) {
    u = u.graph().make(views.back().op(), u.dtype(), {u}, views.back().arg());
  }
  return u;
}

UOp shaped(UOp buffer, std::span<const std::int64_t> shape) {
  if (shape.size() == 1) return buffer;
  return buffer.graph().movement(Op::Reshape, buffer, shape);
}

}  // namespace

std::shared_ptr<const PreparedRun> prepare(std::span<const UOp> roots) {
  std::lock_guard lock(state().mutex);
  CanonicalGraph graph = canonical_graph(roots);
  auto prepared = std::make_shared<PreparedRun>();
  prepared->inputs = std::move(graph.inputs);
  graph.inputs = prepared->inputs;
  auto& plans = state().plans;
  const std::string_view maths = Options::flag(Option::FastMath) ? " fast" : "";
  const std::string key = fmt::format("{}{}\n", default_device(), maths) + graph.key;
  auto it = plans.find(key);
  if (it == plans.end()) {
    if (plans.size() >= max_plans) plans.clear();  // a program that makes new graphs for ever
    it = plans.emplace(key, make_plan(graph)).first;
    log_schedule(it->second->schedule);
  }
  prepared->plan = it->second;
  return prepared;
}

std::span<const UOp> inputs_of(const PreparedRun& prepared) { return prepared.inputs; }

std::vector<UOp> run(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results) {
  std::lock_guard lock(state().mutex);
  const Schedule& schedule = prepared.plan->schedule;
  std::vector<UOp> outputs(schedule.buffers.size());
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& b = schedule.buffers[i];
    if (b.kind != ScheduleBuffer::Kind::Output) continue;
    outputs[i] = new_buffer(results, b.dtype, b.elements, b.device);
  }
  launch_all(*prepared.plan, bind_buffers(schedule, inputs, outputs));
  std::vector<UOp> values;
  for (int result : schedule.results) {
    values.push_back(result < 0 ? UOp() : outputs[static_cast<std::size_t>(result)]);
  }
  return values;
}

RunSummary summary_of(const PreparedRun& prepared) {
  RunSummary summary;
  std::unordered_map<const Kernel*, bool> distinct;
  for (const ScheduleStep& step : prepared.plan->schedule.steps) {
    if (!step.kernel) continue;
    summary.kernels++;
    distinct.emplace(step.kernel.get(), true);
  }
  summary.distinct_kernels = static_cast<std::int64_t>(distinct.size());
  for (const ArenaPlan& a : prepared.plan->schedule.arenas) {
    summary.arena_bytes += a.bytes;
    summary.arena_lower_bound += a.lower_bound;
  }
  return summary;
}

std::vector<UOp> realize(std::span<const UOp> roots) {
  std::vector<UOp> result(roots.begin(), roots.end());
  if (roots.empty()) return result;
  const auto prepared = prepare(roots);
  const std::vector<UOp> values = run(*prepared, prepared->inputs, roots[0].graph());
  for (std::size_t i = 0; i < roots.size(); i++) {
    result[i] = values[i] ? shaped(values[i], roots[i].shape()) : without_after(roots[i]);
  }
  return result;
}

RunStatistics run_statistics() {
  std::lock_guard lock(state().mutex);
  return state().statistics;
}

void clear_run_caches() {
  std::lock_guard lock(state().mutex);
  state().plans.clear();
  clear_program_cache();
}

}  // namespace croze
