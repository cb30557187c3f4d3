// execute.cpp -- from tensor graph to results, in three steps: schedule, load programs, launch.
#include "croze/run/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "croze/base/call_site.h"
#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/base/process.h"
#include "croze/base/shared_cache.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/graph.h"
#include "croze/graph/observer.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/arenas.h"
#include "croze/run/buffers.h"
#include "croze/run/cache/kept_schedules.h"
#include "croze/run/changing_numbers.h"
#include "croze/run/counters.h"
#include "croze/run/devices.h"
#include "croze/run/explain.h"
#include "croze/run/launch/launch.h"
#include "croze/run/liberties.h"
#include "croze/run/memory_limit.h"
#include "croze/run/notes/call_notes.h"
#include "croze/run/observers.h"
#include "croze/run/open_sizes.h"
#include "croze/run/plan.h"
#include "croze/run/programs.h"
#include "croze/run/queue_scope.h"
#include "croze/run/trace/run_trace.h"
#include "croze/schedule/schedule.h"

namespace croze {

ScheduleContext schedule_context() {
  return {[](int index) -> const Caps& { return device(index).caps(); }, default_device(),
          Options::flag(Option::Fusion), Options::integer(Option::MemoryBudget),
          Options::integer(Option::Recompute)};
}

namespace {

using Clock = std::chrono::steady_clock;
using Plan = PreparedRun::Plan;

constexpr SharedCache<Plan>::Limits plan_limits = {.values = 1024, .weight = 16'384};

// Process-wide: named in docs/architecture.md as global state.  By canonical graph, weighed by the
// number of their steps.
SharedCache<Plan>& plans() {
  // Never destroyed: at the end of the process, other threads may still use it.
  static SharedCache<Plan>& instance = *new SharedCache<Plan>(plan_limits);
  return instance;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void log_schedule(const Schedule& schedule) {
  if (!log_enabled(3)) return;
  for (const ArenaPlan& a : schedule.arenas) {
    log_line(3, "schedule: {} steps, arena of {} {} bytes (lower bound {})", schedule.steps.size(),
             device_name(a.device), a.bytes, a.lower_bound);
  }
  for (const ScheduleSequence& s : schedule.sequences) {
    log_line(3, "schedule: a sequence of {} blocks, {} bytes for each of them at work",
             count_blocks(s.blocks), s.block_bytes);
  }
}

std::vector<bool> written_inputs(const CanonicalGraph& graph) {
  std::vector<bool> is_written(graph.inputs.size());
  for (UOp u : toposort(graph.roots)) {
    if (!u.is(Op::Store)) continue;
    UOp target = u.src(0);
    while (!target.is(Op::Buffer)) {
      ensure(target.num_src() > 0, "a store into {}, which is no memory", info(target.op()).name);
      target = target.src(0);
    }
    is_written[static_cast<std::size_t>(target.buffer_id())] = true;
  }
  return is_written;
}

// What the run will allocate: its temporaries and its results.
std::int64_t planned_bytes(const Schedule& schedule) {
  std::int64_t bytes = 0;
  for (const ArenaPlan& a : schedule.arenas) bytes = checked_add(bytes, a.bytes);
  for (const ScheduleBuffer& b : schedule.buffers) {
    if (b.kind == ScheduleBuffer::Kind::Output) bytes = checked_add(bytes, b.bytes());
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(const CanonicalGraph& graph, const ScheduleKey& key) {
  tracing::start_as_environment_asks();
  const EnvironmentObservers watching;
  const CompileScope scope(CompilePart::Schedule, "schedule");
  if (Options::flag(Option::CheckSpec)) {
    for (UOp root : graph.roots) check_tensor_graph(root);
  }
  const Clock::time_point start = Clock::now();
  auto plan = std::make_shared<Plan>();
  plan->is_written = written_inputs(graph);
  plan->schedule = kept_or_made(graph, key, schedule_context());
  plan->bytes = planned_bytes(plan->schedule);
  if (tracing::is_tracing()) {
    plan->explanation = std::make_shared<Explanation>(explanation_of(graph, plan->schedule));
  }
  for (const ArenaPlan& a : plan->schedule.arenas) {
    run_counters().arena_bytes += a.bytes;
    run_counters().arena_lower_bound += a.lower_bound;
  }
  run_counters().schedule_seconds += seconds_since(start);

  std::vector<KernelRequest> requests;
  for (const ScheduleStep& step : plan->schedule.steps) {
    if (step.kernel) requests.push_back({step.kernel, step.device, step.sequence >= 0});
  }
  auto programs = load_programs(requests);
  auto next = programs.begin();
  for (const ScheduleStep& step : plan->schedule.steps) {
    plan->programs.push_back(step.kernel ? *next++ : nullptr);
  }
  const std::size_t copies = plan->schedule.steps.size() - requests.size();
  log_line(1, "schedule of {} kernels ({} loop nests) and {} copies, ready in {:.1f} ms",
           plan->schedule.launches.size() - copies, requests.size(), copies,
           seconds_since(start) * 1e3);
  log_schedule(plan->schedule);
  return plan;
}

std::shared_ptr<const Plan> plan_of_instance(const Plan& open, OpenGraph::Instance instance) {
  auto plan = std::make_shared<Plan>(open);
  plan->launch_lists = std::make_shared<KeptLaunchLists>();  // they point into the schedule
  plan->schedule =
      with_sizes(open.schedule, instance.variables, instance.inputs, schedule_context());
  for (std::size_t i = 0; i < open.is_written.size(); i++) {
    plan->is_written[static_cast<std::size_t>(instance.inputs[i])] = open.is_written[i];
  }
  plan->bytes = planned_bytes(plan->schedule);
  plan->variables = std::move(instance.variables);
  return plan;
}

namespace {

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

// ---- preparing --------------------------------------------------------------------------------

std::string run_settings() {
  const std::string_view fusion = Options::flag(Option::Fusion) ? "" : " unfused";
  const std::string edits = Options::text(Option::Edits);
  return fmt::format("{}{}{} {} {} {}\n", default_device(), liberties(), fusion,
                     Options::integer(Option::MemoryBudget), Options::integer(Option::Recompute),
                     edits);
}

namespace {

std::string key_with_numbers(std::string_view graph) {
  return ("graph " + run_settings()).append(graph);
}

std::string key_without(const GraphForm& form, const PassedNumbers& numbers) {
  return "form " + run_settings() + key_of(form, numbers);
}

std::shared_ptr<const PreparedRun> prepared_run(std::shared_ptr<const Plan> plan,
                                                std::vector<UOp> inputs, PassedNumbers numbers) {
  std::vector<std::int64_t>& variables = numbers.variables;
  if (variables.empty()) variables = plan->variables;
  return std::make_shared<PreparedRun>(
      PreparedRun{std::move(plan), std::move(inputs), std::move(variables)});
}

// By the graph with its numbers; only if there is no such plan, by its form, if it has one.
std::shared_ptr<const PreparedRun> find_prepared(const CanonicalGraph& graph,
                                                 std::optional<GraphForm>& form) {
  if (auto plan = plans().find(key_with_numbers(graph.key))) {
    return prepared_run(std::move(plan), graph.inputs, {});
  }
  if (!is_remembered(graph)) return nullptr;
  form = form_of(graph);
  auto numbers = known_numbers_to_pass(*form);
  if (!numbers || !numbers->any()) return nullptr;
  auto plan = plans().find(key_without(*form, *numbers));
  return plan ? prepared_run(std::move(plan), graph.inputs, std::move(*numbers)) : nullptr;
}

}  // namespace

namespace {

CanonicalGraph passing_numbers(const CanonicalGraph& graph, const GraphForm& form,
                               const PassedNumbers& numbers) {
  CanonicalGraph passing = with_numbers_passed(form, numbers.passed, graph.inputs);
  carry_notes(graph.roots, passing.roots);
  return passing;
}

}  // namespace

std::shared_ptr<const PreparedRun> prepare(const CanonicalGraph& graph) {
  std::optional<GraphForm> form;
  if (auto found = find_prepared(graph, form)) return found;
  if (auto open = OpenSizes::prepare_in_scope(graph)) return open;
  refuse_at_end_of_process();
  PassedNumbers numbers = form ? numbers_to_pass(*form) : PassedNumbers{};
  const std::string key = numbers.any() ? key_without(*form, numbers) : key_with_numbers(graph.key);
  auto plan = plans().get(key, [&](std::int64_t& weight) {
    std::optional<CanonicalGraph> passing;
    if (form) passing = passing_numbers(graph, *form, numbers);
    form.reset();  // as large as the graph
    auto made = make_plan(passing ? *passing : graph, {key, numbers.variables.size()});
    weight = std::ssize(made->schedule.steps);
    return made;
  });
  return prepared_run(std::move(plan), graph.inputs, std::move(numbers));
}

std::shared_ptr<const PreparedRun> prepare(const CanonicalGraph& graph,
                                           std::shared_ptr<const Plan> plan) {
  auto shared = plans().get(key_with_numbers(graph.key), [&](std::int64_t& weight) {
    weight = std::ssize(plan->schedule.steps);
    return std::move(plan);
  });
  return prepared_run(std::move(shared), graph.inputs, {});
}

std::shared_ptr<const PreparedRun> find_prepared(const CanonicalGraph& graph) {
  std::optional<GraphForm> form;
  return find_prepared(graph, form);
}

std::shared_ptr<const PreparedRun> find_prepared(std::span<const UOp> roots) {
  CanonicalKey form = canonical_key(roots);
  auto plan = plans().find(key_with_numbers(form.key));
  return plan ? prepared_run(std::move(plan), std::move(form.inputs), {}) : nullptr;
}

CanonicalGraph noted_canonical_graph(std::span<const UOp> roots) {
  CanonicalGraph graph = canonical_graph(roots);
  carry_notes(roots, graph.roots);
  return graph;
}

std::shared_ptr<const PreparedRun> prepare(std::span<const UOp> roots) {
  if (auto found = find_prepared(roots)) return found;
  return prepare(noted_canonical_graph(roots));
}

std::span<const UOp> inputs_of(const PreparedRun& prepared) { return prepared.inputs; }

// ---- running ----------------------------------------------------------------------------------

struct BoundRun::Bound {
  std::shared_ptr<const Plan> plan;
  std::vector<std::int64_t> variables;
  std::vector<RunArena> arenas;
  std::vector<traces::RunResult> results;  // for a trace
  MemoryAccess access;  // to the buffers that are no temporaries, in the order of the schedule

  std::vector<MemoryView> views() const {
    std::vector<MemoryView> result;
    result.reserve(plan->schedule.buffers.size());
    auto held = access.memory().begin();
    for (const ScheduleBuffer& b : plan->schedule.buffers) {
      const bool inner =
          b.kind == ScheduleBuffer::Kind::Temporary || b.kind == ScheduleBuffer::Kind::Block;
      result.push_back(inner ? view_of(b, arenas) : (held++)->view);
    }
    return result;
  }
  // Does not end the access where it throws.
  void run(QueueStream queue);
};

namespace {

// "a run of 3 launches (its largest buffer is float32 of 1000000 elements)".
std::string text_of(const Schedule& schedule) {
  const auto made = [](const ScheduleBuffer& b) {
    return b.kind == ScheduleBuffer::Kind::Input ? 0 : b.bytes();
  };
  const auto largest = std::ranges::max_element(schedule.buffers, {}, made);
  return fmt::format("a run of {} launches (its largest buffer is {} of {} elements)",
                     schedule.launches.size(), name_of(largest->dtype), largest->elements);
}

void check_planned_memory(const PreparedRun::Plan& plan) {
  const std::int64_t held = memory_use().bytes;
  if (plan.bytes <= memory_limit() - held) return;
  check_memory(plan.bytes, held, text_of(plan.schedule));
}

std::vector<traces::RunResult> memory_of_results(std::span<const UOp> outputs) {
  std::vector<traces::RunResult> results;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (outputs[i]) results.push_back({static_cast<std::uint32_t>(i), outputs[i].buffer_id()});
  }
  return results;
}

}  // namespace

BoundRun::BoundRun(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results,
                   SpareBuffers* spare) {
  const Plan& plan = *prepared.plan;
  const Schedule& schedule = plan.schedule;
  check_planned_memory(plan);
  std::vector<RunArena> arenas;
  arenas.reserve(schedule.arenas.size());
  for (const ArenaPlan& a : schedule.arenas) arenas.emplace_back(a.device, a.bytes);
  std::vector<UOp> outputs(schedule.buffers.size());
  std::vector<MemoryAccess::Use> uses;
  uses.reserve(schedule.buffers.size());
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& b = schedule.buffers[i];
    if (b.kind == ScheduleBuffer::Kind::Input) {
      const auto input = static_cast<std::size_t>(b.input);
      uses.push_back({inputs[input], plan.is_written[input]});
    } else if (b.kind == ScheduleBuffer::Kind::Output) {
      if (spare) outputs[i] = spare->take(b.dtype, b.elements, b.device);
      if (!outputs[i]) outputs[i] = new_buffer(results, b.dtype, b.elements, b.device);
      uses.push_back({outputs[i], true});
    }
  }
  bound_ = std::make_shared<Bound>(
      prepared.plan, prepared.variables, std::move(arenas),
      tracing::is_tracing() ? memory_of_results(outputs) : std::vector<traces::RunResult>(),
      MemoryAccess(uses));
  values_.reserve(schedule.results.size());
  for (int result : schedule.results) {
    values_.push_back(result < 0 ? UOp() : outputs[static_cast<std::size_t>(result)]);
  }
}

BoundRun::~BoundRun() = default;
BoundRun::BoundRun(BoundRun&&) noexcept = default;

void BoundRun::Bound::run(QueueStream queue) {
  access.wait();
  if (queue.stream) queue.device->synchronize();  // what the device was given before comes first
  const tracing::RunTrace trace(plan, memory_ids(arenas), results);
  launch_all(*plan, views(), variables, trace, queue);
  if (queue.stream) queue.stream->finish();
  access.end();
}

void BoundRun::launch() {
  const std::shared_ptr<Bound> bound = std::move(bound_);
  if (Queue* const queue = QueueScope::current()) {
    queue->call(
        [bound, queue, asked = QueuedCall()](DeviceStream& stream) {
          const CallScope scope(asked.function(), asked.where());
          bound->run({&queue->device(), &stream});
        },
        [bound](const std::exception_ptr& failure) { bound->access.fail(failure); });
    return;
  }
  try {
    bound->run({});
  } catch (...) {
    bound->access.fail(std::current_exception());
    throw;
  }
}

std::vector<UOp> run(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results) {
  BoundRun bound(prepared, inputs, results);
  bound.launch();
  return {bound.values().begin(), bound.values().end()};
}

std::vector<std::string> kernels_of(const PreparedRun& prepared) {
  const Plan& plan = *prepared.plan;
  std::vector<std::string> writers(plan.schedule.buffers.size());
  for (std::size_t i = 0; i < plan.programs.size(); i++) {
    if (!plan.programs[i]) continue;
    const int written = plan.schedule.steps[i].buffers[0];
    writers[static_cast<std::size_t>(written)] = plan.programs[i]->info.name;
  }
  std::vector<std::string> names;
  for (int result : plan.schedule.results) {
    names.push_back(result < 0 ? "" : writers[static_cast<std::size_t>(result)]);
  }
  return names;
}

RunSummary summary_of(const PreparedRun& prepared) {
  RunSummary summary;
  std::unordered_map<const Kernel*, bool> distinct;
  for (const ScheduleStep& step : prepared.plan->schedule.steps) {
    if (!step.kernel) continue;
    summary.nests++;
    distinct.emplace(step.kernel.get(), true);
  }
  for (const ScheduleLaunch& launch : prepared.plan->schedule.launches) {
    const auto front = static_cast<std::size_t>(launch.first);
    summary.kernels += prepared.plan->schedule.steps[front].kernel != nullptr;
  }
  summary.distinct_nests = static_cast<std::int64_t>(distinct.size());
  for (const ArenaPlan& a : prepared.plan->schedule.arenas) {
    summary.arena_bytes += a.bytes;
    summary.arena_lower_bound += a.lower_bound;
  }
  return summary;
}

RunCost cost_of(std::span<const UOp> roots) {
  const WatchedBy unwatched(Watchers::nobody());
  const Schedule schedule = make_schedule(canonical_graph(roots), schedule_context());
  const auto is_kept_aside = [](const ScheduleBuffer& b) {
    return b.reason.cause == BufferCause::OlderContents ||
           b.reason.cause == BufferCause::OwnContents;
  };
  return {.bytes = planned_bytes(schedule),
          .kept_aside = std::ranges::count_if(schedule.buffers, is_kept_aside)};
}

std::vector<UOp> BoundRun::results(std::span<const UOp> roots) const {
  std::vector<UOp> result(roots.begin(), roots.end());
  for (std::size_t i = 0; i < roots.size(); i++) {
    const UOp value = values_[i];
    result[i] = value ? shaped(value, roots[i].shape()) : without_after(roots[i]);
  }
  return result;
}

std::vector<UOp> realize(std::span<const UOp> roots) {
  if (roots.empty()) return {};
  const auto prepared = prepare(roots);
  BoundRun bound(*prepared, prepared->inputs, roots[0].graph());
  bound.launch();
  return bound.results(roots);
}

RunCounters& run_counters() {
  static RunCounters& counters = *new RunCounters;
  return counters;
}

RunStatistics run_statistics() {
  const RunCounters& c = run_counters();
  return {.kernels = c.kernels,
          .kernels_compiled = c.kernels_compiled,
          .schedules_built = c.schedules_built,
          .arena_bytes = c.arena_bytes,
          .arena_lower_bound = c.arena_lower_bound,
          .schedule_seconds = c.schedule_seconds,
          .codegen_seconds = c.codegen_seconds,
          .compile_seconds = c.compile_seconds,
          .compile_wall_seconds = c.compile_wall_seconds};
}

void clear_run_caches() {
  plans().clear();
  forget_changing_numbers();
  clear_program_cache();
}

}  // namespace croze
