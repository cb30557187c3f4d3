#include "croze/viz/summary.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

namespace croze {
namespace {

using traces::Trace;

std::string call_of(const Trace& trace, const traces::Launch& launch) {
  const traces::Schedule& schedule = trace.schedules[trace.runs[launch.run].schedule];
  for (std::uint32_t buffer : schedule.launches[launch.launch].writes) {
    const std::string_view call = trace.text(schedule.buffers[buffer].call);
    if (!call.empty()) return traces::short_name(call);
  }
  const std::string_view asked = trace.text(trace.runs[launch.run].call);
  return asked.empty() ? "?" : traces::short_name(asked);
}

// The names of a schedule's launches are made once: there may be many runs of it.
template <typename Name>
std::vector<TraceRow> rows_by(const Trace& trace, Name name_of_launch) {
  std::vector<TraceRow> rows;
  std::unordered_map<std::string, std::size_t> by_name;
  std::unordered_map<std::uint64_t, std::size_t> by_place;
  for (const traces::Launch& l : trace.launches) {
    const std::uint64_t place = std::uint64_t{trace.runs[l.run].schedule} << 32 | l.launch;
    const auto [known, is_new] = by_place.try_emplace(place, 0);
    const traces::PlannedLaunch& planned = traces::planned(trace, l);
    if (is_new) {
      std::string name = name_of_launch(l);
      const auto [row, is_new_name] = by_name.try_emplace(name, rows.size());
      if (is_new_name) {
        rows.push_back(
            {.name = std::move(name), .device = traces::short_name(trace.text(planned.device))});
      }
      known->second = row->second;
    }
    TraceRow& row = rows[known->second];
    const double seconds = static_cast<double>(l.duration) * 1e-9;
    row.least_seconds = row.launches == 0 ? seconds : std::min(row.least_seconds, seconds);
    row.launches++;
    row.seconds += seconds;
    row.flops += static_cast<double>(planned.flops);
    row.bytes += static_cast<double>(planned.bytes);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &TraceRow::seconds);
  return rows;
}

}  // namespace

std::vector<TraceRow> by_kernel(const Trace& trace) {
  return rows_by(trace, [&](const traces::Launch& l) { return name_of(trace, planned(trace, l)); });
}

std::vector<TraceRow> by_call(const Trace& trace) {
  return rows_by(trace, [&](const traces::Launch& l) { return call_of(trace, l); });
}

}  // namespace croze
