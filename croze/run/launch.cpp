// launch.cpp -- the kernels and copies of a schedule, one after the other.
#include "croze/run/launch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "croze/base/log.h"
#include "croze/device/direct_stream.h"
#include "croze/device/peer_copy.h"
#include "croze/run/counters.h"
#include "croze/run/devices.h"
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

// What one launch runs: sequences of programs and, for each program, its buffers and variables.
class LaunchList {
 public:
  LaunchList(const Schedule& schedule, Programs programs, std::span<const MemoryView> views,
             std::span<const std::int64_t> variables)
      : schedule_(schedule), programs_(programs), views_(views), given_(variables) {}

  std::span<const Sequence> sequences(const ScheduleLaunch& launch) {
    nests_.clear();
    buffers_.clear();
    variables_.clear();
    sequences_.clear();
    const auto first = static_cast<std::size_t>(launch.first);
    const auto last = static_cast<std::size_t>(launch.last);
    std::size_t buffers = 0, variables = 0;
    for (std::size_t i = first; i < last; i++) {
      buffers += schedule_.steps[i].buffers.size();
      variables += schedule_.steps[i].variables.size() + schedule_.steps[i].own_variables.size();
    }
    // Spans of them are taken while they are filled.
    buffers_.reserve(buffers);
    variables_.reserve(variables);
    nests_.reserve(last - first);
    for (int i = launch.first; i < launch.last;) {
      const ScheduleChain chain = chain_at(schedule_, i, launch.last);
      add(chain);
      i = chain.last;
    }
    return sequences_;
  }

 private:
  void add(const ScheduleChain& chain) {
    const std::size_t nest = nests_.size();
    for (auto i = static_cast<std::size_t>(chain.first); i < static_cast<std::size_t>(chain.last);
         i++) {
      const ScheduleStep& step = schedule_.steps[i];
      const std::size_t buffer = buffers_.size(), variable = variables_.size();
      for (std::size_t b = 0; b < step.buffers.size(); b++) {
        const MemoryView& view = views_[static_cast<std::size_t>(step.buffers[b])];
        buffers_.push_back(view.part(step.offsets[b], view.bytes - step.offsets[b]));
      }
      for (int v : step.variables) variables_.push_back(given_[static_cast<std::size_t>(v)]);
      for (std::int64_t v : step.own_variables) variables_.push_back(v);
      nests_.push_back({programs_[i]->program.get(), std::span(buffers_).subspan(buffer),
                        std::span(variables_).subspan(variable)});
    }
    Sequence& sequence = sequences_.emplace_back();
    sequence.nests = std::span(nests_).subspan(nest);
    if (!chain.sequence) return;
    sequence.blocks = chain.sequence->blocks;
    sequence.block_bytes = chain.sequence->block_bytes;
    sequence.prelude = chain.sequence->prelude;
    sequence.in_order = chain.sequence->in_order;
  }

  const Schedule& schedule_;
  Programs programs_;
  std::span<const MemoryView> views_;
  std::span<const std::int64_t> given_;
  std::vector<Nest> nests_;
  std::vector<MemoryView> buffers_;
  std::vector<std::int64_t> variables_;
  std::vector<Sequence> sequences_;
};

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

}  // namespace

void launch_all(const PreparedRun::Plan& plan, std::span<const MemoryView> views,
                std::span<const std::int64_t> variables, const tracing::RunTrace& trace,
                QueueStream queue) {
  const Schedule& schedule = plan.schedule;
  const Programs programs = plan.programs;
  const bool timed = log_enabled(2);
  LaunchList list(schedule, programs, views, variables);
  for (std::size_t i = 0; i < schedule.launches.size(); i++) {
    const ScheduleLaunch& launch = schedule.launches[i];
    const ScheduleStep& first = schedule.steps[static_cast<std::size_t>(launch.first)];
    const Clock::time_point start = trace.is_on() ? Clock::now() : Clock::time_point();
    if (!first.kernel) {
      copy_between(schedule, first, views, queue);
      if (trace.is_on()) trace.launched(static_cast<int>(i), first.device, start, Clock::now());
      continue;
    }
    run_counters().kernels++;
    StreamOf stream(first.device, queue);
    const std::span<const Sequence> sequences = list.sequences(launch);
    if (timed) {
      launch_timed(launch, programs, stream, sequences);
      if (trace.is_on()) trace.launched(static_cast<int>(i), first.device, start, Clock::now());
    } else if (trace.is_on()) {
      const std::chrono::duration<double> taken(timed_run(stream, sequences));
      const Clock::time_point end = Clock::now();
      trace.launched(static_cast<int>(i), first.device,
                     end - std::chrono::duration_cast<Clock::duration>(taken), end);
    } else {
      launch_named(*stream, sequences);
    }
  }
}

}  // namespace croze
