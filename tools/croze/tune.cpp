// tune.cpp -- croze tune: searches for the edits of the kernels of models and workloads, and keeps
// them.
#include <croze/base/error.h>
#include <croze/base/options.h>
#include <croze/base/printable.h>
#include <croze/graph/observer.h>
#include <croze/io/onnx/model.h>
#include <croze/tensor/registry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "commands.h"
#include "corpus/workloads.h"
#include "model_inputs.h"
#include "run_options.h"

namespace croze::tool {
namespace {

struct Settings {
  std::vector<std::string> names, sizes;
  std::string table;
  RunOptions options;
  std::int64_t width = 4;
  bool json = false;
};

// Shows each kernel when its search is over.
class Progress : public CompileObserver {
 public:
  explicit Progress(bool as_json) : as_json_(as_json) {}

  void tuned(const TuningReport& r) override {
    const double gain = r.model_seconds / r.seconds;
    kernels_++;
    logarithms_ += std::log(gain);
    rows_.push_back({{"kernel", std::string(r.kernel)},
                     {"seconds", r.seconds},
                     {"model_seconds", r.model_seconds},
                     {"tried", r.tried},
                     {"broken", std::vector<std::string>(r.broken.begin(), r.broken.end())},
                     {"edits", std::string(r.edits)}});
    if (as_json_) return;
    fmt::print("{:44} {:>10.1f} us -> {:>10.1f} us  {:.2f} x  of {} tried\n",
               printable(std::string(r.kernel)), r.model_seconds * 1e6, r.seconds * 1e6, gain,
               r.tried);
    for (const std::string& b : r.broken) fmt::print("  {}\n", printable(b));
    std::fflush(stdout);
  }

  void finish() const {
    const double mean = kernels_ ? std::exp(logarithms_ / kernels_) : 1;
    if (as_json_) {
      fmt::print("{}\n", Json{{"kernels", rows_}, {"mean_gain", mean}}.dump());
    } else {
      fmt::print("{} kernels, {:.2f} x the model's choice in geometric mean\n", kernels_, mean);
    }
  }

 private:
  bool as_json_;
  int kernels_ = 0;
  double logarithms_ = 0;
  Json rows_ = Json::array();
};

void run_model(const std::string& path, const std::vector<std::string>& sizes) {
  const onnx::Model model(path);
  ModelInputs inputs;
  add_zeros(model, sizes, inputs);
  model.run(inputs);
}

void run_workload(const std::string& name) {
  const auto all = corpus::workloads();
  const auto found = std::ranges::find(all, name, &corpus::Workload::name);
  check(found != all.end(), "{} is no ONNX model, and there is no workload of that name",
        printable(name));
  realize(found->prepare()());
}

void tune(const Settings& settings) {
  const Options::Scope device = settings.options.scope();
  const Options::Scope search{{Option::Beam, settings.width}};
  std::unique_ptr<Options::Scope> table;
  if (!settings.table.empty()) {
    table.reset(new Options::Scope{{Option::Tuned, settings.table}});
  }
  Progress progress(settings.json);
  {
    const Observing watching(progress);
    for (const std::string& name : settings.names) {
      name.ends_with(".onnx") ? run_model(name, settings.sizes) : run_workload(name);
    }
  }
  progress.finish();
}

}  // namespace

void add_tune(const Command& program) {
  const Command command = program.subcommand(
      "tune", "Try edits of the kernels of a model, and keep the fastest for all later runs");
  const auto s = std::make_shared<Settings>();
  command.option("names", s->names, "ONNX models, or workloads of croze-bench fusion").required();
  command.option("--size", s->sizes, "NAME=NUMBER for a size that a model leaves open");
  command.option("--width", s->width, "Lists of edits that are kept from round to round")
      .in_range(1, 64)
      .shows_default();
  command.option("--table", s->table, "File that keeps what is found; CROZE_TUNED if not given");
  s->options.add_to(command);
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { tune(*s); });
}

}  // namespace croze::tool
