// run_trace.cpp -- schedules and kernels are written when they are first launched.
//
// So a trace that begins in the middle of a program has all that it shows, whatever was compiled
// before.  Kernels that came from a cache have no source; it is generated again, outside of the
// lock, which takes no longer than the passes do.
#include "croze/run/trace/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "croze/graph/observer.h"
#include "croze/graph/text/print.h"
#include "croze/run/devices.h"
#include "croze/run/explain.h"
#include "croze/run/given_edits.h"
#include "croze/run/programs.h"
#include "croze/schedule/explain/explanation.h"

namespace croze::tracing {
namespace {

using Plan = PreparedRun::Plan;
using Program = std::shared_ptr<const LoadedProgram>;
using Texts = std::unordered_map<const LoadedProgram*, std::shared_ptr<const KernelText>>;

// "8 x 64": the tasks or groups of a launch, and the items of a group.
std::string text_of(const Launch& launch) {
  std::string text = launch.tasks.text();
  for (const LaunchSize& size : launch.groups) text += " x " + size.text();
  return fmt::format("{} of {} x {} x {}", text, launch.items[0], launch.items[1], launch.items[2]);
}

// ---- a schedule -------------------------------------------------------------------------------

class Description {
 public:
  // Generates texts that are not there, so that nothing long is done with the lock.
  explicit Description(const std::shared_ptr<const Plan>& plan)
      : plan_(plan),
        explanation_(plan->explanation ? *plan->explanation
                                       : explanation_of(PreparedRun{plan, {}, {}})) {
    for (std::size_t i = 0; i < plan->programs.size(); i++) {
      const Program& program = plan->programs[i];
      if (!program || texts_.contains(program.get())) continue;
      texts_[program.get()] = program->text ? program->text : text_of_kernel(request(i));
    }
  }

  // With the lock: the number of the schedule, which is written if it is new.
  traces::Number write(Recorder& r) const {
    if (const traces::Number* known = r.schedules.find(plan_)) return *known;
    traces::Schedule schedule;
    for (std::size_t i = 0; i < plan_->schedule.launches.size(); i++) {
      schedule.launches.push_back(launch(r, i));
    }
    for (const ExplainedBuffer& b : explanation_.buffers) schedule.buffers.push_back(buffer(r, b));
    for (const ArenaPlan& a : plan_->schedule.arenas) {
      schedule.arenas.push_back({r.name(device_name(a.device)), a.bytes, a.lower_bound});
    }
    const traces::Number number = r.writer().add(std::move(schedule));
    r.schedules.add(plan_, number);
    if (!plan_->explanation) return number;
    r.writer().add(origins(r, number));
    r.writer().add(graph(r, number));
    const auto runs_model = [](const ExplainedLaunch& l) { return !l.parts.empty(); };
    if (std::ranges::any_of(explanation_.launches, runs_model)) {
      r.writer().add(model_nodes(r, number));
    }
    return number;
  }

 private:
  KernelRequest request(std::size_t step) const {
    const ScheduleStep& s = plan_->schedule.steps[step];
    return {s.kernel, s.device, s.sequence >= 0};
  }

  traces::PlannedLaunch launch(Recorder& r, std::size_t number) const {
    const ScheduleLaunch& steps = plan_->schedule.launches[number];
    const ExplainedLaunch& explained = explanation_.launches[number];
    traces::PlannedLaunch launch;
    for (int i = steps.first; i < steps.last; i++) {
      const auto step = static_cast<std::size_t>(i);
      if (plan_->programs[step]) launch.kernels.push_back(kernel(r, step));
    }
    launch.device =
        r.name(device_name(plan_->schedule.steps[static_cast<std::size_t>(steps.first)].device));
    launch.reads.assign(explained.reads.begin(), explained.reads.end());
    launch.writes.assign(explained.writes.begin(), explained.writes.end());
    launch.flops = explained.flops;
    launch.bytes = explained.bytes;
    launch.cycles = explained.cycles;
    return launch;
  }

  traces::Origins origins(Recorder& r, traces::Number schedule) const {
    traces::Origins origins{.schedule = schedule, .launches = {}, .buffers = {}};
    for (const ExplainedLaunch& l : explanation_.launches) {
      traces::LaunchOrigins& launch = origins.launches.emplace_back();
      for (const NestOrigin& n : l.origins) {
        launch.kernels.push_back({r.name(n.module),
                                  r.name(n.call),
                                  n.is_gradient,
                                  static_cast<std::int64_t>(std::min(n.cycles, 1e18)),
                                  {n.reads.begin(), n.reads.end()},
                                  {n.writes.begin(), n.writes.end()}});
      }
    }
    for (const ExplainedBuffer& b : explanation_.buffers) {
      origins.buffers.push_back(r.name(b.name));
    }
    return origins;
  }

  traces::TensorGraph graph(Recorder& r, traces::Number schedule) const {
    traces::TensorGraph graph{schedule, {}};
    for (const ExplainedNode& n : explanation_.nodes) {
      traces::TensorNode& node = graph.nodes.emplace_back();
      node.op = r.name(n.op);
      node.dtype = r.name(name_of(n.dtype));
      node.argument = r.name(n.argument);
      node.shape = n.shape;
      const auto number = static_cast<traces::Number>(graph.nodes.size() - 1);
      for (const int source : n.sources) {
        node.sources.push_back(number - static_cast<traces::Number>(source));
      }
      node.module = r.name(n.module);
      node.call = r.name(n.call);
      node.is_gradient = n.is_gradient;
      node.buffer_plus_1 = static_cast<std::uint32_t>(n.buffer + 1);
    }
    return graph;
  }

  traces::ModelNodes model_nodes(Recorder& r, traces::Number schedule) const {
    traces::ModelNodes nodes{.schedule = schedule, .launches = {}};
    for (const ExplainedLaunch& l : explanation_.launches) {
      traces::LaunchNodes& launch = nodes.launches.emplace_back();
      for (const std::string& part : l.parts) launch.nodes.push_back(r.name(part));
    }
    return nodes;
  }

  traces::Number kernel(Recorder& r, std::size_t step) const {
    const Program& program = plan_->programs[step];
    if (const traces::Number* known = r.programs.find(program)) return *known;
    const ScheduleStep& s = plan_->schedule.steps[step];
    traces::Kernel kernel;
    kernel.name = r.name(kernel_name(*s.kernel));
    kernel.key = r.name(kernel_key(*s.kernel));
    kernel.device = r.name(device_name(s.device));
    kernel.graph = r.name(print_graph(s.kernel->sink));
    if (const auto text = texts_.find(program.get()); text != texts_.end()) {
      kernel.edits = r.name(text->second->edits);
      kernel.program = r.name(text->second->program);
      kernel.source = r.name(text->second->source);
    }
    kernel.assembly = r.name(program->program->disassembly());
    kernel.size = r.name(text_of(program->info.launch));
    kernel.flops = program->info.flops;
    kernel.bytes = program->info.bytes;
    kernel.code_bytes = program->code_bytes;
    const traces::Number number = r.writer().add(kernel);
    r.programs.add(program, number);
    r.kernel_added(number, program->program->machine_code());
    return number;
  }

  static traces::PlannedBuffer buffer(Recorder& r, const ExplainedBuffer& b) {
    using What = traces::PlannedBuffer::What;
    constexpr What kinds[] = {What::Input, What::Result, What::Temporary, What::Block};
    return {.what = kinds[static_cast<std::size_t>(b.kind)],
            .device = r.name(b.device),
            .dtype = r.name(name_of(b.dtype)),
            .shape = b.shape,
            .bytes = b.bytes,
            .room = b.room,
            .offset = std::max<std::int64_t>(b.offset, 0),
            .first_plus_1 = static_cast<std::uint32_t>(b.first + 1),
            .last_plus_1 = static_cast<std::uint32_t>(b.last + 1),
            .why = r.name(b.why),
            .call = r.name(b.call)};
  }

  std::shared_ptr<const Plan> plan_;
  Explanation explanation_;
  Texts texts_;
};

}  // namespace

RunTrace::RunTrace(const std::shared_ptr<const Plan>& plan, std::vector<std::int64_t> arenas,
                   std::vector<traces::RunResult> results) {
  if (!is_tracing()) return;
  bool is_known = false;
  record([&](Recorder& r) { is_known = r.schedules.find(plan) != nullptr; });
  std::optional<Description> description;
  if (!is_known) description.emplace(plan);
  start_ = Clock::now();
  record([&](Recorder& r) {
    const traces::Number* known = r.schedules.find(plan);
    if (!known && !description) return;  // another trace has begun meanwhile
    const traces::Number schedule = known ? *known : description->write(r);
    run_ = r.writer().add(traces::Run{r.thread_row(), schedule, r.call(), r.time(start_),
                                      std::move(arenas), std::move(results)});
    serial_ = r.serial();
  });
}

RunTrace::~RunTrace() {
  if (!is_on()) return;
  const Clock::time_point end = Clock::now();
  record([&](Recorder& r) {
    if (r.serial() != serial_) return;
    r.writer().add(traces::Scope{traces::Scope::What::Run, r.thread_row(), r.name("run"), r.call(),
                                 r.time(start_), r.time(end) - r.time(start_)});
    r.flush_now_and_then(end);
  });
}

void RunTrace::launched(int launch, int device, Clock::time_point start,
                        Clock::time_point end) const {
  record([&](Recorder& r) {
    if (r.serial() != serial_) return;
    r.writer().add(traces::Launch{r.queue_row(device), run_, static_cast<std::uint32_t>(launch),
                                  r.time(start), r.time(end) - r.time(start)});
  });
}

}  // namespace croze::tracing
