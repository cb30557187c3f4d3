#include "croze/viz/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <unordered_map>
#include <unordered_set>
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

// "Conv (node "stem") + Relu"; "" if it runs no model file.
std::string nodes_text(const Trace& trace, const traces::Launch& launch) {
  constexpr std::size_t max_named = 8;
  const std::span<const traces::Name> nodes = nodes_of(trace, launch);
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), max_named); i++) {
    if (i > 0) text += " + ";
    text += traces::short_name(trace.text(nodes[i]));
  }
  if (nodes.size() > max_named) text += fmt::format(" and {} more", nodes.size() - max_named);
  return text;
}

std::string module_name(const Trace& trace, const traces::Origin& origin) {
  const std::string_view module = trace.text(origin.module);
  if (module.empty()) return "?";
  const std::string name = module == "." ? "(the model)" : traces::short_name(module);
  return origin.is_gradient ? "gradient of " + name : name;
}

// A part of a launch that is counted under a name.
struct Part {
  std::string name;
  double share = 1;
};
using Parts = std::vector<Part>;

// A launch of several kernels is divided among them as they were estimated.
template <typename Name>
Parts parts_of(const Trace& trace, const traces::Launch& launch, const std::string& otherwise,
               Name name_of_origin) {
  const std::span<const traces::Origin> origins = origins_of(trace, launch);
  double cycles = 0;
  for (const traces::Origin& o : origins) cycles += static_cast<double>(o.cycles);
  if (origins.empty()) return {{otherwise}};
  Parts parts;
  for (const traces::Origin& o : origins) {
    const std::string name = name_of_origin(o);
    parts.push_back(
        {name.empty() ? otherwise : name, cycles > 0 ? static_cast<double>(o.cycles) / cycles
                                                     : 1 / static_cast<double>(origins.size())});
  }
  return parts;
}

class Rows {
 public:
  explicit Rows(const Trace& trace) : trace_(trace) {}

  void add(const traces::Launch& l, std::size_t row, double share) {
    const traces::PlannedLaunch& planned = traces::planned(trace_, l);
    TraceRow& r = rows_[row];
    const double seconds = static_cast<double>(l.duration) * 1e-9 * share;
    r.least_seconds = r.launches == 0 ? seconds : std::min(r.least_seconds, seconds);
    r.launches++;
    r.seconds += seconds;
    r.flops += static_cast<double>(planned.flops) * share;
    r.bytes += static_cast<double>(planned.bytes) * share;
  }
  std::size_t row(std::string name, const traces::Launch& l) {
    const auto [row, is_new] = by_name_.try_emplace(name, rows_.size());
    if (is_new) {
      const traces::Name device = traces::planned(trace_, l).device;
      rows_.push_back({.name = std::move(name), .device = traces::short_name(trace_.text(device))});
    }
    return row->second;
  }
  // The launch counts in the row.
  void add_nodes(std::size_t row, const traces::Launch& l) {
    for (traces::Name node : nodes_of(trace_, l)) {
      if (named_.insert(std::uint64_t{row} << 32 | node).second) rows_[row].nodes.push_back(node);
    }
  }
  std::vector<TraceRow> sorted() {
    std::ranges::stable_sort(rows_, std::ranges::greater(), &TraceRow::seconds);
    return std::move(rows_);
  }

 private:
  const Trace& trace_;
  std::vector<TraceRow> rows_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_set<std::uint64_t> named_;  // rows and their nodes
};

// The parts of a schedule's launches are found once: there may be many runs of it.  Parts of one
// name are one.
template <typename F>
std::vector<TraceRow> rows_by(const Trace& trace, F parts_of_launch) {
  Rows rows(trace);
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::size_t, double>>> by_place;
  for (const traces::Launch& l : trace.launches) {
    const std::uint64_t place = std::uint64_t{trace.runs[l.run].schedule} << 32 | l.launch;
    const auto [known, is_new] = by_place.try_emplace(place);
    auto& parts = known->second;
    if (is_new) {
      for (Part& part : parts_of_launch(l)) {
        const std::size_t row = rows.row(std::move(part.name), l);
        rows.add_nodes(row, l);
        const auto same = std::ranges::find(parts, row, &std::pair<std::size_t, double>::first);
        if (same == parts.end()) {
          parts.emplace_back(row, part.share);
        } else {
          same->second += part.share;
        }
      }
    }
    for (const auto& [row, share] : parts) rows.add(l, row, share);
  }
  return rows.sorted();
}

}  // namespace

std::string roof_fact(std::string_view what, std::string_view device) {
  return fmt::format("roof {} {}", what, device);
}

std::optional<Roof> roof_of(const Trace& trace, std::string_view device) {
  const auto read = [&](std::string_view what) {
    const std::string text(trace.fact(roof_fact(what, device)));
    return std::strtod(text.c_str(), nullptr);
  };
  const Roof roof{read("flops"), read("bytes")};
  return roof.flops > 0 && roof.bytes > 0 ? std::optional(roof) : std::nullopt;
}

double share_of_roof(const Roof& roof, double flops, double bytes, double seconds) {
  return seconds > 0 ? std::max(flops / roof.flops, bytes / roof.bytes) / seconds : 0;
}

std::vector<TraceRow> by_kernel(const Trace& trace) {
  return rows_by(
      trace, [&](const traces::Launch& l) { return Parts{{name_of(trace, planned(trace, l))}}; });
}

std::vector<TraceRow> by_module(const Trace& trace) {
  return rows_by(trace, [&](const traces::Launch& l) {
    return parts_of(trace, l, "?", [&](const traces::Origin& o) { return module_name(trace, o); });
  });
}

std::vector<TraceRow> by_call(const Trace& trace) {
  return rows_by(trace, [&](const traces::Launch& l) {
    if (std::string nodes = nodes_text(trace, l); !nodes.empty()) return Parts{{std::move(nodes)}};
    return parts_of(trace, l, call_of(trace, l), [&](const traces::Origin& o) {
      return traces::short_name(trace.text(o.call));
    });
  });
}

}  // namespace croze
