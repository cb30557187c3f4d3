// launch.cpp -- the kernels and copies of a schedule, one after the other.
#include "croze/run/launch.h"

#include <chrono>
#include <vector>

#include "croze/base/checked.h"
#include "croze/base/log.h"
#include "croze/run/counters.h"
#include "croze/run/devices.h"

namespace croze {
namespace {

using Clock = std::chrono::steady_clock;

void copy_between(const Schedule& schedule, const ScheduleStep& step,
                  std::span<const MemoryView> views) {
  const auto to = static_cast<std::size_t>(step.buffers[0]);
  const auto from = static_cast<std::size_t>(step.buffers[1]);
  auto host = sized_vector<std::byte>(schedule.buffers[from].bytes(), "a copy between devices");
  device(schedule.buffers[from].device).copy_out(host, views[from]);
  device(schedule.buffers[to].device).copy_in(views[to], host);
}

// What one launch runs: its programs and, for each, its buffers and variables.
class NestList {
 public:
  void clear() {
    parts_.clear();
    buffers_.clear();
    variables_.clear();
  }
  void add(Program& program, const ScheduleStep& step, std::span<const MemoryView> views,
           std::span<const std::int64_t> variables) {
    parts_.push_back({&program, buffers_.size(), variables_.size()});
    for (int b : step.buffers) buffers_.push_back(views[static_cast<std::size_t>(b)]);
    for (int v : step.variables) variables_.push_back(variables[static_cast<std::size_t>(v)]);
  }
  std::span<const Nest> nests() {
    nests_.clear();
    for (std::size_t i = 0; i < parts_.size(); i++) {
      const Part& p = parts_[i];
      const bool is_last = i + 1 == parts_.size();
      const std::size_t buffers_end = is_last ? buffers_.size() : parts_[i + 1].first_buffer;
      const std::size_t variables_end = is_last ? variables_.size() : parts_[i + 1].first_variable;
      nests_.push_back(
          {p.program, std::span(buffers_).subspan(p.first_buffer, buffers_end - p.first_buffer),
           std::span(variables_).subspan(p.first_variable, variables_end - p.first_variable)});
    }
    return nests_;
  }

 private:
  struct Part {
    Program* program;
    std::size_t first_buffer, first_variable;
  };

  std::vector<Part> parts_;
  std::vector<MemoryView> buffers_;
  std::vector<std::int64_t> variables_;
  std::vector<Nest> nests_;
};

// One line per loop nest, a + before those that belong to the launch of the one above: each runs
// alone and is waited for, so that the time is its own.
void launch_timed(const LoadedProgram& program, Device& d, const Nest& nest, bool first) {
  d.synchronize();
  const Clock::time_point start = Clock::now();
  nest.program->launch(nest.buffers, nest.variables);
  d.synchronize();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Launch& l = program.info.launch;
  log_line(2, "{:<6}{} {:<40} {:>4} x {:<4} {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s", d.name(),
           first ? ' ' : '+', program.info.name, l.tasks * l.groups[0] * l.groups[1] * l.groups[2],
           l.items[0] * l.items[1] * l.items[2], seconds * 1e6,
           static_cast<double>(program.info.flops) / seconds * 1e-9,
           static_cast<double>(program.info.bytes) / seconds * 1e-9);
}

}  // namespace

void launch_all(const Schedule& schedule,
                std::span<const std::shared_ptr<const LoadedProgram>> programs,
                std::span<const MemoryView> views, std::span<const std::int64_t> variables) {
  const bool timed = log_enabled(2);
  NestList list;
  for (const ScheduleLaunch& launch : schedule.launches) {
    const auto first = static_cast<std::size_t>(launch.first);
    const auto last = static_cast<std::size_t>(launch.last);
    if (!schedule.steps[first].kernel) {
      copy_between(schedule, schedule.steps[first], views);
      continue;
    }
    run_counters().kernels++;
    list.clear();
    for (std::size_t i = first; i < last; i++) {
      list.add(*programs[i]->program, schedule.steps[i], views, variables);
    }
    Device& d = device(schedule.steps[first].device);
    const std::span<const Nest> nests = list.nests();
    if (!timed) {
      d.launch(nests);
      continue;
    }
    for (std::size_t i = first; i < last; i++) {
      launch_timed(*programs[i], d, nests[i - first], i == first);
    }
  }
}

}  // namespace croze
