// trace.cpp -- croze-bench trace: what it costs to be traced.
//
// A training step of Fashion-MNIST, captured as programs do, with launches traced and without, by
// turns.  Each turn is an epoch, and the trace of a turn begins with it: it pays for the
// description of its schedule, too.  Then a cold compile of ResNet-18 with every rewrite of every
// kernel recorded, and without: each is a process of its own.
#include "croze/run/trace/trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "command_line/temporary_folder.h"
#include "corpus/traces.h"
#include "croze/base/options.h"
#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "croze/nn/nn.h"
#include "croze/run/execute.h"
#include "examples/data/fashion_net.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

constexpr double most_for_launches = 1.03, most_for_rewrites = 2, most_megabytes = 60;

struct TraceSettings {
  bool as_json = false;
  double seconds = 30;     // of training
  int repeat = 3;          // compiles of each kind
  std::string compile_to;  // in a process of its own: the trace, or "-" for none
};

// ---- launches ---------------------------------------------------------------------------------

// How many times as long a training with launches traced takes.  The images are no images: the time
// of a step does not depend on them.
double ratio_of_training(double seconds) {
  constexpr int steps = 60'000 / 128;  // an epoch
  const TemporaryFolder folder;
  FashionNet net;
  optim::Adam adam(nn::parameters(net));
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    const Tensor loss = cross_entropy(net(images), labels);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const Tensor images = Tensor::uniform({128, 1, 28, 28}, 0, 255).cast(DType::UInt8).realize();
  const Tensor labels = Tensor::uniform({128}, 0, 10).cast(DType::Int32).realize();
  const auto train = [&] {
    for (int i = 0; i < steps; i++) step(images, labels).item<float>();
  };
  const auto train_traced = [&] {
    Trace tracing = trace(folder.path() + "/launches.trace");
    train();
    tracing.finish();
  };
  train_traced();  // compiles
  const std::vector<double> times = interleaved({train, train_traced}, seconds);
  return times[1] / times[0];
}

// ---- rewrites ---------------------------------------------------------------------------------

// In a process that has done nothing before: the time from tensor code to programs.
void compile_here(const std::string& file) {
  const Options::Scope cold{{Option::Cache, false}};
  const auto compile = [] {
    std::vector<UOp> roots;
    const std::vector<Tensor> results = corpus::trace_resnet18();
    for (const Tensor& t : results) roots.push_back(t.node());
    prepare(roots);
  };
  const Stopwatch watch;
  if (file == "-") {
    compile();
  } else {
    Trace tracing = trace(file, {.rewrites = true});
    compile();
    tracing.finish();
  }
  fmt::print("{}\n", Json{{"ms", watch.ms()}}.dump());
}

double ms_of_compile(const std::string& file) {
  return Json::parse(run_self({"trace", "--compile-to", file}))["ms"].get<double>();
}

// ---- the suite --------------------------------------------------------------------------------

Json measure(const TraceSettings& settings) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/rewrites.trace";
  std::vector<double> plain, recorded;
  for (int i = 0; i < settings.repeat; i++) {
    plain.push_back(ms_of_compile("-"));
    recorded.push_back(ms_of_compile(file));
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) * 1e-6;
  Json rows = Json::array();
  rows.push_back(limited("training, launches traced, by not traced",
                         ratio_of_training(settings.seconds), "times", most_for_launches,
                         Limit::Most));
  rows.push_back(limited("compile of resnet18, rewrites recorded, by not recorded",
                         median(recorded) / median(plain), "times", most_for_rewrites,
                         Limit::Most));
  rows.push_back(limited("trace of that compile", megabytes, "MB", most_megabytes, Limit::Most));
  return rows;
}

void run_trace(const TraceSettings& settings) {
  if (!settings.compile_to.empty()) return compile_here(settings.compile_to);
  const Json rows = measure(settings);
  if (!settings.as_json) print_limited(rows);
  finish_suite("trace", rows, settings.as_json);
}

}  // namespace

void add_trace(const Command& program) {
  const Command command = program.subcommand(
      "trace", "Cost of being traced: launches of a training, every rewrite of a compile");
  const auto s = std::make_shared<TraceSettings>();
  command.option("--seconds", s->seconds, "How long to train").positive().shows_default();
  command.option("--repeat", s->repeat, "Compiles of each kind").positive().shows_default();
  command.option("--compile-to", s->compile_to, "Compile in this process").hidden();
  command.flag("--json", s->as_json, "Print one line of JSON");
  command.action([s] { run_trace(*s); });
}

}  // namespace croze::bench
