// fusion.cpp -- croze-bench fusion: each workload fused and as its parts, one after the other in
// turns.  Fusion that is slower than the parts is a mistake of the cost model.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "corpus/workloads.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/run/execute.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct FusionOptions {
  std::string workload;
  double seconds = 1;
  bool as_json = false;
};

// A workload, scheduled and compiled before it is timed.
class Prepared {
 public:
  Prepared(const corpus::Workload& workload, bool fuse) : fuse_(fuse) {
    const Options::Scope fusion{{Option::Fusion, fuse_}};
    compute_ = workload.prepare();
    results_ = compute_();
    for (const Tensor& t : results_) roots_.push_back(t.node());
    run_ = prepare(roots_);
    has_kernels_ = summary_of(*run_).kernels > 0;
    launch();
  }

  // Only the launches, except of a step that computes what it assigns at once.
  void launch() {
    const Options::Scope fusion{{Option::Fusion, fuse_}};
    if (has_kernels_) {
      bench::launch(*run_, graph_);
    } else {
      realize(compute_());
    }
  }

 private:
  bool fuse_;
  corpus::Computation compute_;  // owns what the roots read
  std::vector<Tensor> results_;
  std::vector<UOp> roots_;
  std::shared_ptr<const PreparedRun> run_;
  bool has_kernels_ = false;
  Graph graph_;  // of the results
};

Json measure(const corpus::Workload& workload, double seconds) {
  // Within the noise of a quiet machine.
  constexpr double most_ratio = 1.03;
  Prepared fused(workload, true), parts(workload, false);
  const std::vector<double> times =
      interleaved({[&] { fused.launch(); }, [&] { parts.launch(); }}, seconds);
  const double ratio = times[0] / times[1];
  return Json{{"workload", workload.name},  {"fused_ms", times[0] * 1e3},
              {"parts_ms", times[1] * 1e3}, {"ratio", ratio},
              {"limit", most_ratio},        {"holds", ratio <= most_ratio}};
}

void run_fusion(const FusionOptions& options) {
  Json rows = Json::array();
  for (const corpus::Workload& w : corpus::workloads()) {
    if (!options.workload.empty() && options.workload != w.name) continue;
    const Json row = measure(w, options.seconds);
    if (!options.as_json) {
      fmt::print("{:22} {:10.3f} ms, its parts {:10.3f} ms: {:.2f}{}\n", w.name,
                 row["fused_ms"].get<double>(), row["parts_ms"].get<double>(),
                 row["ratio"].get<double>(), row["holds"].get<bool>() ? "" : "  does not hold");
      std::fflush(stdout);
    }
    rows.push_back(row);
  }
  check(!rows.elements().empty(), "there is no workload '{}'", options.workload);
  finish_suite("fusion", rows, options.as_json);
}

}  // namespace

void add_fusion(const Command& program) {
  auto options = std::make_shared<FusionOptions>();
  const Command command =
      program.subcommand("fusion", "Each workload fused, against its parts run one by one");
  command.option("--workload", options->workload, "One of them; all if none is named");
  command.option("--seconds", options->seconds, "Time for each workload");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_fusion(*options); });
}

}  // namespace croze::bench
