// beam.cpp -- croze-bench beam: how near the model's choice of edits is to what a search finds, and
// whether two searches find the same speed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "corpus/workloads.h"
#include "croze/base/error.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/run/given_edits.h"
#include "croze/run/plan.h"
#include "croze/tune/search.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct BeamOptions {
  std::int64_t kernels = 20, width = 4;
  bool as_json = false;
};

struct TunedTwice {
  std::string name;
  tune::Found first, second;

  double gain() const { return first.model_seconds / first.seconds; }
  // How much faster than the other one the faster one is, each against the model's choice, which
  // ran beside it.
  double apart() const {
    const double a = first.seconds / first.model_seconds;
    const double b = second.seconds / second.model_seconds;
    return std::max(a / b, b / a);
  }
};

// Kernels of the workloads that take some time: the first ones of each, all different.
std::vector<ScheduleStep> kernels_of_workloads(std::int64_t count) {
  constexpr std::int64_t least_work = 1 << 18;  // bytes and operations
  constexpr int most_of_one = 2;
  std::vector<ScheduleStep> steps;
  std::set<std::string> seen;
  for (const corpus::Workload& w : corpus::workloads()) {
    const std::vector<Tensor> results = w.prepare()();
    std::vector<UOp> roots;
    for (const Tensor& t : results) roots.push_back(t.node());
    int of_this = 0;
    const auto prepared = prepare(roots);
    for (std::size_t i = 0; i < prepared->plan->schedule.steps.size(); i++) {
      const ScheduleStep& step = prepared->plan->schedule.steps[i];
      if (!step.kernel || step.sequence >= 0 || of_this == most_of_one) continue;
      const ProgramInfo& info = prepared->plan->programs[i]->info;
      if (info.bytes + info.flops < least_work || !seen.insert(step.kernel->key).second) continue;
      steps.push_back(step);
      of_this++;
      if (std::ssize(steps) == count) return steps;
    }
  }
  return steps;
}

double mean_of(const std::vector<TunedTwice>& all, double (TunedTwice::*figure)() const) {
  double logarithms = 0;
  for (const TunedTwice& t : all) logarithms += std::log((t.*figure)());
  return std::exp(logarithms / static_cast<double>(all.size()));
}

TunedTwice tuned_twice(const ScheduleStep& step, const BeamOptions& options) {
  static ThreadPool compilers;
  Device& d = device(step.device);
  const auto search = [&](std::uint64_t seed) {
    const tune::Settings settings{.width = static_cast<int>(options.width), .seed = seed};
    return tune::search_edits(step.kernel->sink, d, d.caps(), settings, compilers);
  };
  return {kernel_name(*step.kernel), search(1), search(2)};
}

void run_beam(const BeamOptions& options) {
  std::vector<TunedTwice> all;
  Json kernels = Json::array();
  for (const ScheduleStep& step : kernels_of_workloads(options.kernels)) {
    const TunedTwice t = tuned_twice(step, options);
    kernels.push_back({{"kernel", t.name},
                       {"seconds", t.first.seconds},
                       {"model_seconds", t.first.model_seconds},
                       {"apart", t.apart()},
                       {"tried", t.first.tried + t.second.tried},
                       {"broken", t.first.broken}});
    if (!options.as_json) {
      fmt::print("{:44} {:10.1f} us -> {:10.1f} us  {:.2f} x, two searches {:.3f} x apart\n",
                 t.name, t.first.model_seconds * 1e6, t.first.seconds * 1e6, t.gain(), t.apart());
      std::fflush(stdout);
    }
    all.push_back(t);
  }
  check(!all.empty(), "no workload has a kernel that can be tuned");
  double worst = 1;
  for (const TunedTwice& t : all) worst = std::max(worst, t.apart());
  Json rows = Json::array();
  rows.push_back(limited("model's time to the best found, mean", mean_of(all, &TunedTwice::gain),
                         "x", 1.10, Limit::Most));
  rows.push_back(limited("two searches apart, mean", mean_of(all, &TunedTwice::apart), "x", 1.05,
                         Limit::Most));
  rows.push_back(limited("two searches apart, worst", worst, "x", 1.05, Limit::Most));
  if (!options.as_json) print_limited(rows);
  finish_suite("beam", rows, options.as_json, Json{{"kernels", kernels}});
}

}  // namespace

void add_beam(const Command& program) {
  auto options = std::make_shared<BeamOptions>();
  const Command command = program.subcommand(
      "beam",
      "What searching for edits gains over the model's choice, and whether it is the same "
      "twice");
  command.option("--kernels", options->kernels, "How many kernels of the workloads")
      .in_range(1, 1000)
      .shows_default();
  command.option("--width", options->width, "Lists of edits that are kept from round to round")
      .in_range(1, 64)
      .shows_default();
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_beam(*options); });
}

}  // namespace croze::bench
