#include "croze/viz/events.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace croze {
namespace {

class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}

  std::uint32_t number(std::string name) {
    const auto [found, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(std::move(name));
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

void add_launches(const traces::Trace& trace, Names& names, EventRows& result) {
  std::unordered_map<std::uint64_t, std::uint32_t> by_place;  // of schedule and launch
  for (std::size_t i = 0; i < trace.launches.size(); i++) {
    const traces::Launch& l = trace.launches[i];
    const std::uint64_t place = std::uint64_t{trace.runs[l.run].schedule} << 32 | l.launch;
    const auto [name, is_new] = by_place.try_emplace(place, 0);
    if (is_new) name->second = names.number(name_of(trace, planned(trace, l)));
    result.rows[l.row].push_back(
        {l.start, l.duration, name->second, true, static_cast<std::uint32_t>(i)});
  }
}

void add_scopes(const traces::Trace& trace, Names& names, EventRows& result) {
  std::unordered_map<traces::Name, std::uint32_t> by_text;
  for (std::size_t i = 0; i < trace.scopes.size(); i++) {
    const traces::Scope& s = trace.scopes[i];
    const bool is_call = s.what == traces::Scope::What::Run && s.detail != 0;
    const auto [name, is_new] = by_text.try_emplace(is_call ? s.detail : s.name, 0);
    if (is_new)
      name->second = names.number(traces::short_name(trace.text(is_call ? s.detail : s.name)));
    result.rows[s.row].push_back(
        {s.start, s.duration, name->second, false, static_cast<std::uint32_t>(i)});
  }
}

}  // namespace

EventRows event_rows(const traces::Trace& trace) {
  EventRows result;
  result.rows.resize(trace.rows.size());
  Names names(result.names);
  add_launches(trace, names, result);
  add_scopes(trace, names, result);
  for (std::vector<TraceEvent>& row : result.rows) {
    std::ranges::stable_sort(row, [](const TraceEvent& a, const TraceEvent& b) {
      return a.start != b.start ? a.start < b.start : a.duration > b.duration;
    });
  }
  return result;
}

std::vector<MemoryChange> memory_changes(const traces::Trace& trace) {
  std::vector<MemoryChange> changes;
  for (std::size_t i = 0; i < trace.allocations.size(); i++) {
    const traces::Allocation& a = trace.allocations[i];
    changes.push_back({a.time, a.bytes, trace.text(a.device)});
    if (trace.ends[i] != INT64_MAX)
      changes.push_back({trace.ends[i], -a.bytes, trace.text(a.device)});
  }
  std::ranges::stable_sort(changes, {}, &MemoryChange::time);
  return changes;
}

}  // namespace croze
