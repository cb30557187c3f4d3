// launch.cpp -- the kernels and copies of a schedule, one after the other.
#include "croze/run/launch/launch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "croze/base/log.h"
#include "croze/device/direct_stream.h"
#include "croze/device/peer_copy.h"
#include "croze/run/counters.h"
#include "croze/run/devices.h"
#include "croze/run/launch/launch_list.h"
#include "croze/run/trace/run_trace.h"

namespace croze {
namespace {

using Clock = std::chrono::steady_clock;

// The stream for the work of a device.
class StreamOf {
 public:
  StreamOf(int device_index, const QueueStream& queue)
      : device_(device(device_index)),
        direct_(device_),
        stream_(queue.device == &device_ ? *queue.stream : direct_) {}
  StreamOf(const StreamOf&) = delete;
  StreamOf& operator=(const StreamOf&) = delete;

  std::string_view device_name() const { return device_.name(); }
  DeviceWork work() { return {device_, stream_}; }
  DeviceStream& operator*() { return stream_; }
  DeviceStream* operator->() { return &stream_; }

 private:
  Device& device_;
  DirectStream direct_;
  DeviceStream& stream_;
};

void copy_between(const Schedule& schedule, const ScheduleStep& step,
                  std::span<const MemoryView> views, const QueueStream& queue) {
  const auto to = static_cast<std::size_t>(step.buffers[0]);
  const auto from = static_cast<std::size_t>(step.buffers[1]);
  StreamOf target(schedule.buffers[to].device, queue);
  StreamOf source(schedule.buffers[from].device, queue);
  copy_between(target.work(), views[to], source.work(), views[from]);
}

using Programs = std::span<const std::shared_ptr<const LoadedProgram>>;

// What the programs of a sequence do together, over all blocks.
ProgramInfo info_of(Programs programs, std::int64_t blocks) {
  ProgramInfo all = programs[0]->info;
  if (blocks > 0) all.launch.tasks = blocks;
  for (const auto& program : programs.subspan(1)) {
    all.name += " > " + program->info.name;
    all.flops += program->info.flops;
    all.bytes += program->info.bytes;
  }
  all.flops *= std::max<std::int64_t>(blocks, 1);
  all.bytes *= std::max<std::int64_t>(blocks, 1);
  return all;
}

// Runs them alone, waits, and says how long they took: by the device's clock, if it has one, since
// that leaves out what it costs to ask for a launch.
double timed_run(StreamOf& stream, std::span<const Sequence> sequences) {
  stream->finish();
  const Clock::time_point start = Clock::now();
  if (const std::optional<double> seconds = stream->launch_timed(sequences)) return *seconds;
  launch_named(*stream, sequences);
  stream->finish();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One line per sequence, a + before those that belong to the launch of the one above: each runs
// alone and is waited for, so that the time is its own.
void launch_timed(const ProgramInfo& info, StreamOf& stream, const Sequence& sequence, bool first) {
  const double seconds = timed_run(stream, std::span(&sequence, 1));
  const Launch& l = info.launch;
  // Of a sequence in blocks all sizes are constants.
  const auto variables = sequence.nests[0].variables;
  const auto turns = [&](const LaunchSize& size) { return size.value(variables); };
  log_line(2, "{:<6}{} {:<40} {:>4} x {:<4} {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s",
           stream.device_name(), first ? ' ' : '+', info.name,
           turns(l.tasks) * turns(l.groups[0]) * turns(l.groups[1]) * turns(l.groups[2]),
           l.items[0] * l.items[1] * l.items[2], seconds * 1e6,
           static_cast<double>(info.flops) / seconds * 1e-9,
           static_cast<double>(info.bytes) / seconds * 1e-9);
}

void launch_timed(const ScheduleLaunch& launch, Programs programs, StreamOf& stream,
                  std::span<const Sequence> sequences) {
  const auto first = static_cast<std::size_t>(launch.first);
  std::size_t i = first;
  for (const Sequence& s : sequences) {
    const std::int64_t blocks = s.blocks.empty() ? 0 : count_blocks(s.blocks);
    const ProgramInfo info = info_of(programs.subspan(i, s.nests.size()), blocks);
    launch_timed(info, stream, s, i == first);
    i += s.nests.size();
  }
}

const ScheduleStep& first_step(const Schedule& schedule, std::size_t launch) {
  return schedule.steps[static_cast<std::size_t>(schedule.launches[launch].first)];
}

// The end of the launches from this one on that follow each other on one device.
std::size_t end_of_launches(const Schedule& schedule, std::size_t first) {
  const int device = first_step(schedule, first).device;
  const auto goes_on = [&](std::size_t i) {
    return first_step(schedule, i).kernel && first_step(schedule, i).device == device;
  };
  std::size_t end = first + 1;
  while (end < schedule.launches.size() && goes_on(end)) end++;
  return end;
}

// One launch that somebody looks at: in the log, or in a trace.
void launch_watched(const PreparedRun::Plan& plan, std::size_t launch, StreamOf& stream,
                    std::span<const Sequence> sequences, const tracing::RunTrace& trace) {
  Clock::time_point start = Clock::now();
  Clock::time_point end;
  if (log_enabled(2)) {
    launch_timed(plan.schedule.launches[launch], plan.programs, stream, sequences);
    end = Clock::now();
  } else {
    const std::chrono::duration<double> taken(timed_run(stream, sequences));
    end = Clock::now();
    start = end - std::chrono::duration_cast<Clock::duration>(taken);
  }
  if (!trace.is_on()) return;
  trace.launched(static_cast<int>(launch), first_step(plan.schedule, launch).device, start, end);
}

}  // namespace

void launch_all(const PreparedRun::Plan& plan, std::span<const MemoryView> views,
                std::span<const std::int64_t> variables, const tracing::RunTrace& trace,
                QueueStream queue) {
  const Schedule& schedule = plan.schedule;
  const bool is_watched = log_enabled(2) || trace.is_on();
  std::unique_ptr<LaunchList> list = plan.launch_lists->take();
  if (!list) list = std::make_unique<LaunchList>(schedule, plan.programs);
  list->bind(views, variables);
  for (std::size_t i = 0, end = 0; i < schedule.launches.size(); i = end) {
    const ScheduleStep& first = first_step(schedule, i);
    if (!first.kernel) {
      end = i + 1;
      const Clock::time_point start = trace.is_on() ? Clock::now() : Clock::time_point();
      copy_between(schedule, first, views, queue);
      if (trace.is_on()) trace.launched(static_cast<int>(i), first.device, start, Clock::now());
      continue;
    }
    end = is_watched ? i + 1 : end_of_launches(schedule, i);
    run_counters().kernels += static_cast<std::int64_t>(end - i);
    StreamOf stream(first.device, queue);
    const std::span<const BoundLaunch> launches = list->launches().subspan(i, end - i);
    if (is_watched) {
      launch_watched(plan, i, stream, launches[0].sequences, trace);
    } else {
      stream->launch_in_order(launches);
    }
  }
  plan.launch_lists->give_back(std::move(list));
}

}  // namespace croze
