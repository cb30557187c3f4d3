// kernels.cpp -- croze-bench kernels: how many kernels fusion makes of each workload, and that they
// compute what the same graph computes without any fusion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "corpus/workloads.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/run/execute.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct Run {
  std::int64_t kernels = 0;
  std::vector<std::vector<double>> values;
};

Run run(const corpus::Workload& workload) {
  const corpus::Computation compute = workload.prepare();
  const std::int64_t before = run_statistics().kernels;
  const std::vector<Tensor> results = compute();
  realize(results);
  Run r;
  r.kernels = run_statistics().kernels - before;
  for (const Tensor& t : results) r.values.push_back(t.cast(DType::Float64).to_vector<double>());
  return r;
}

// The largest difference of two results, relative to the largest number among them.
double difference(const Run& a, const Run& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.values.size(); i++) {
    double largest = 1e-3, apart = 0;
    for (std::size_t j = 0; j < a.values[i].size(); j++) {
      largest = std::max(largest, std::abs(b.values[i][j]));
      apart = std::max(apart, std::abs(a.values[i][j] - b.values[i][j]));
    }
    worst = std::max(worst, apart / largest);
  }
  return worst;
}

// Without fusion, interpreted; what is too large for that runs on the device of the measurement.
Run reference(const corpus::Workload& workload) {
  const Options::Scope unfused{{Option::Fusion, false}};
  if (workload.large) return run(workload);
  const Options::Scope interpreted{{Option::Device, std::string("INTERP")}};
  return run(workload);
}

Json measure(const corpus::Workload& workload, bool compare) {
  const Run fused = run(workload);
  Json row{{"workload", workload.name},
           {"kernels", fused.kernels},
           {"limit", workload.most_kernels},
           {"holds", fused.kernels <= workload.most_kernels}};
  if (!compare) return row;
  constexpr double most_difference = 1e-3;
  const double apart = difference(fused, reference(workload));
  row["difference"] = apart;
  row["most_difference"] = most_difference;
  row["holds"] = fused.kernels <= workload.most_kernels && apart <= most_difference;
  return row;
}

struct KernelsOptions {
  std::string workload;
  bool as_json = false, counts_only = false;
};

void print_row(const corpus::Workload& workload, const Json& row) {
  fmt::print("{:22} {:4} kernels, at most {:4}{}", workload.name, row["kernels"].get<int>(),
             workload.most_kernels, row["holds"].get<bool>() ? "" : "  does not hold");
  if (row.contains("difference")) fmt::print(", {:.1e} apart", row["difference"].get<double>());
  fmt::print("\n");
}

void run_kernels(const KernelsOptions& options) {
  Json rows = Json::array();
  for (const corpus::Workload& w : corpus::workloads()) {
    if (!options.workload.empty() && options.workload != w.name) continue;
    const Json row = measure(w, !options.counts_only);
    if (!options.as_json) print_row(w, row);
    rows.push_back(row);
  }
  check(!rows.elements().empty(), "there is no workload '{}'", options.workload);
  finish_suite("kernels", rows, options.as_json);
}

}  // namespace

void add_kernels(const Command& program) {
  auto options = std::make_shared<KernelsOptions>();
  const Command command =
      program.subcommand("kernels", "Kernels that fusion makes of functions, networks and steps");
  command.option("--workload", options->workload, "One of them; all if none is named");
  command.flag("--counts-only", options->counts_only, "Compute without comparing");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_kernels(*options); });
}

}  // namespace croze::bench
