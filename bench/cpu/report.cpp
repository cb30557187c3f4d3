// report.cpp -- rows of limits, of cases, and the table.
#include "cpu/report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "measure.h"

namespace croze::bench {
namespace {

// Results in new memory may take so much longer than results in memory that is kept.
constexpr double most_times_kept = 1.15;

Json timing_json(const Timing& t) {
  return {{"ms", t.middle() * 1e3},
          {"lower_quartile_ms", t.lower() * 1e3},
          {"upper_quartile_ms", t.upper() * 1e3}};
}

double of_peak(const Outcome& o) { return o.rate() / o.peak; }

void add_group_mean(const MeasuredGroup& g, Json& rows) {
  if (g.group->limits.geometric_mean == 0) return;
  double logarithms = 0;
  int count = 0;
  for (const MeasuredCase& c : g.cases) {
    if (c.outcome.peers.empty()) continue;
    logarithms += std::log(c.outcome.times_best_peer());
    count++;
  }
  if (count == 0) return;
  rows.push_back(limited(fmt::format("{}: geometric mean of {}", g.group->name, count),
                         std::exp(logarithms / count), "x best peer",
                         g.group->limits.geometric_mean, Limit::Least));
}

void add_case(const MeasuredCase& c, const Limits& limits, Work work, Json& rows) {
  const std::string& name = c.measured->name;
  const Outcome& o = c.outcome;
  if (const Timing* best = o.best_peer(); best && limits.worst > 0) {
    rows.push_back(limited(name, o.times_best_peer(), ("x " + best->name).c_str(), limits.worst,
                           Limit::Least));
  }
  if (c.measured->least_of_peak > 0) {
    rows.push_back(limited(name, of_peak(o),
                           work == Work::Operations ? "of multiply-adds" : "of copying",
                           c.measured->least_of_peak, Limit::Least));
  }
  if (c.measured->most_compile_seconds > 0) {
    rows.push_back(limited(name + ", first run", o.compile_seconds, "s",
                           c.measured->most_compile_seconds, Limit::Most));
  }
  if (!o.fresh.seconds.empty()) {
    rows.push_back(
        limited(name + ", fresh results", o.times_kept(), "x kept", most_times_kept, Limit::Most));
  }
}

Json case_json(const MeasuredCase& c, const Group& group, double unit) {
  const Outcome& o = c.outcome;
  Json shapes = Json::array(), peers = Json::object();
  for (const Input& input : c.measured->inputs) {
    shapes.push_back(to_text(input.shape) + " " + std::string(name_of(input.dtype)));
  }
  for (const Timing& peer : o.peers) {
    peers[peer.name] = timing_json(peer);
    peers[peer.name]["ratio"] = peer.middle() / o.kept.middle();
  }
  Json row{{"name", c.measured->name},
           {"group", group.name},
           {"operation", c.measured->operation},
           {"options", c.measured->options},
           {"inputs", std::move(shapes)},
           {"work", o.work},
           {"bytes", o.bytes},
           {"kept", timing_json(o.kept)},
           {"rate", o.rate() / unit},
           {"turns", o.kept.seconds.size()},
           {"kernels", o.kernels},
           {"compile_ms", o.compile_seconds * 1e3},
           {"peers", std::move(peers)}};
  if (o.peak > 0) {
    row["peak_rate"] = o.peak / unit;
    row["of_peak"] = of_peak(o);
  }
  if (!o.fresh.seconds.empty()) row["fresh"] = timing_json(o.fresh);
  if (const Timing* best = o.best_peer()) {
    row["best_peer"] = best->name;
    row["times_best_peer"] = o.times_best_peer();
  }
  return row;
}

}  // namespace

Unit unit_of(Work work) {
  switch (work) {
    case Work::Operations: return {"GFLOP/s", 1e9};
    case Work::Bytes: return {"GB/s", 1e9};
    case Work::Runs: return {"runs/s", 1};
  }
  return {};
}

Json limit_rows(const std::vector<MeasuredGroup>& groups, Work work) {
  Json rows = Json::array();
  for (const MeasuredGroup& g : groups) {
    add_group_mean(g, rows);
    for (const MeasuredCase& c : g.cases) add_case(c, g.group->limits, work, rows);
  }
  return rows;
}

Json case_rows(const std::vector<MeasuredGroup>& groups, Work work) {
  Json rows = Json::array();
  for (const MeasuredGroup& g : groups) {
    for (const MeasuredCase& c : g.cases)
      rows.push_back(case_json(c, *g.group, unit_of(work).size));
  }
  return rows;
}

void print_head(Work work) {
  fmt::print("{:52} {:>10} {:>8} {:>8} {:>7} {:>7}  {}\n", "medians", "ms", "quarters",
             unit_of(work).name, "of peak", "fresh", "peers: ms, our speed relative to theirs");
}

void print_case(const MeasuredCase& c, Work work) {
  const Outcome& o = c.outcome;
  fmt::print("{:52} {:10.4f} {:7.0f}% {:8.1f} {:>7} {:>7}", c.measured->name, o.kept.middle() * 1e3,
             o.kept.spread() * 100, o.rate() / unit_of(work).size,
             o.peak > 0 ? fmt::format("{:.1f}%", of_peak(o) * 100) : "",
             o.fresh.seconds.empty() ? "" : fmt::format("{:.2f}", o.times_kept()));
  for (const Timing& peer : o.peers) {
    fmt::print("  {} {:.4f} {}{:.2f}", peer.name, peer.middle() * 1e3,
               &peer == o.best_peer() ? "*" : "", peer.middle() / o.kept.middle());
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace croze::bench
