// kept_schedules.cpp -- for which graphs there are schedules on disk, and under which names.
#include "croze/run/cache/kept_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "croze/base/log.h"
#include "croze/base/version.h"
#include "croze/graph/observer.h"
#include "croze/run/cache/disk_cache.h"
#include "croze/run/compiler_id.h"
#include "croze/run/counters.h"
#include "croze/schedule/schedule_bytes.h"

namespace croze {
namespace {

// Of a graph: some thousand nodes, which take a few milliseconds.
constexpr std::size_t least_key_bytes = std::size_t{8} << 10;

// Of one device, and of constant sizes.
bool can_be_kept(const CanonicalGraph& graph, const ScheduleKey& key,
                 const ScheduleContext& context) {
  const auto is_there = [&](UOp b) { return b.buffer_device() == context.default_device; };
  return key.text.size() >= least_key_bytes && graph.variables.empty() && !is_watched() &&
         disk_cache().enabled() && std::ranges::all_of(graph.buffers, is_there);
}

bool is_of_one_device(const Schedule& schedule, int device) {
  return std::ranges::all_of(schedule.buffers,
                             [&](const ScheduleBuffer& b) { return b.device == device; });
}

std::string disk_key(const ScheduleKey& key, const Caps& caps) {
  return fmt::format("schedule {} {} {} {} {} threads\n{}", version(), compiler_id(), caps.device,
                     caps.architecture, caps.threads, key.text);
}

std::optional<Schedule> found(const std::string& key, const ScheduleFrame& frame) {
  const std::optional<std::string> bytes = disk_cache().find(key);
  if (!bytes) return {};
  try {
    return schedule_from_bytes(*bytes, frame);
  } catch (const std::exception& e) {
    log_line(1, "a schedule in the cache is of no use: {}", e.what());
    return {};
  }
}

}  // namespace

Schedule kept_or_made(const CanonicalGraph& graph, const ScheduleKey& key,
                      const ScheduleContext& context) {
  std::string disk;
  const int device = context.default_device;
  if (can_be_kept(graph, key, context)) {
    disk = disk_key(key, context.caps(device));
    const ScheduleFrame frame{.inputs = graph.inputs.size(),
                              .roots = graph.roots.size(),
                              .variables = key.variables,
                              .device = device};
    if (std::optional<Schedule> kept = found(disk, frame)) return std::move(*kept);
  }
  Schedule schedule = make_schedule(graph, context);
  run_counters().schedules_built++;
  if (!disk.empty() && is_of_one_device(schedule, device))
    disk_cache().store(disk, schedule_to_bytes(schedule));
  return schedule;
}

}  // namespace croze
