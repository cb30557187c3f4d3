// compile.cpp -- croze-bench compile: cold milliseconds from tensor code to programs ready to
// launch.
//
// Cold means that loading libraries, building the rule tables and starting LLVM count, and that no
// cache helps: every measurement is a process of its own.  Nothing is executed.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "command_line/json.h"
#include "corpus/traces.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/tensor/network/loss.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct Model {
  const char* name;
  std::vector<Tensor> (*trace)();
  double limit_ms;  // the most that it may take
};

constexpr Model models[] = {
    {"matmul", corpus::trace_matmul, 60},
    {"block", corpus::trace_block, 900},
    {"resnet18", corpus::trace_resnet18, 4000},
};

const Model& model_named(const std::string& name) {
  for (const Model& m : models) {
    if (m.name == name) return m;
  }
  fail({}, "there is no model '{}'", name);
}

// One measurement, in a process that has done nothing before.
Json measure_here(const Model& model) {
  const Options::Scope cold{{Option::Cache, false}};
  const Stopwatch total;
  device(default_device());
  const double open_ms = total.ms();
  const Stopwatch tracing;
  const std::vector<Tensor> results = model.trace();
  const double trace_ms = tracing.ms();

  std::vector<UOp> roots;
  for (const Tensor& t : results) roots.push_back(t.node());
  const auto prepared = prepare(roots);
  const double total_ms = total.ms();
  const RunStatistics spent = run_statistics();
  const RunSummary summary = summary_of(*prepared);
  return {{"open_device_ms", open_ms},
          {"trace_and_gradient_ms", trace_ms},
          {"schedule_ms", spent.schedule_seconds * 1e3},
          {"codegen_ms", spent.codegen_seconds * 1e3},
          {"llvm_ms", spent.compile_seconds * 1e3},
          {"codegen_and_llvm_wall_ms", spent.compile_wall_seconds * 1e3},
          {"total_ms", total_ms},
          {"cpu_ms", cpu_seconds() * 1e3},
          {"peak_rss_mb", static_cast<double>(peak_rss_bytes()) * 1e-6},
          {"tensor_nodes", toposort(roots).size()},
          {"kernels", summary.kernels},
          {"nests", summary.nests},
          {"distinct_nests", summary.distinct_nests},
          {"arena_bytes", summary.arena_bytes},
          {"arena_lower_bound_bytes", summary.arena_lower_bound}};
}

Json measure(const Model& model, int repeat) {
  std::vector<Json> runs;
  for (int i = 0; i < repeat; i++) {
    const Stopwatch process;
    runs.push_back(Json::parse(run_self({"compile", "--in-this-process", "--model", model.name})));
    runs.back()["process_ms"] = process.ms();
  }
  Json result = median(runs);
  const auto total_ms = result["total_ms"].get<double>();
  result["model"] = model.name;
  result["limit_ms"] = model.limit_ms;
  result["within_limit"] = total_ms <= model.limit_ms;
  return result;
}

void print_table(const Json& measured) {
  fmt::print("cold ms       trace  schedule  codegen     llvm    total      cpu  limit  kernels\n");
  for (const Json& m : measured.elements()) {
    const auto ms = [&](const char* name) { return m[name].get<double>(); };
    fmt::print("{:10} {:8.1f} {:9.1f} {:8.1f} {:8.1f} {:8.1f} {:8.1f} {:6.0f} {:8}\n",
               m["model"].get<std::string>(), ms("trace_and_gradient_ms"), ms("schedule_ms"),
               ms("codegen_ms"), ms("llvm_ms"), ms("total_ms"), ms("cpu_ms"), ms("limit_ms"),
               m["kernels"].get<int>());
  }
  fmt::print("codegen and llvm are summed over threads; cpu is the whole process\n");
}

struct CompileOptions {
  std::string model = "all";
  int repeat = 5;
  bool as_json = false;
  bool in_this_process = false;
};

void run_compile(const CompileOptions& options) {
  if (options.in_this_process) {
    fmt::print("{}\n", measure_here(model_named(options.model)).dump());
    return;
  }
  Json measured = Json::array();
  for (const Model& m : models) {
    if (options.model == "all" || options.model == m.name) {
      measured.push_back(measure(m, options.repeat));
    }
  }
  if (options.as_json) {
    fmt::print("{}\n", Json{{"suite", "compile"},
                            {"machine", machine()},
                            {"repeat", options.repeat},
                            {"models", measured}}
                           .dump());
  } else {
    print_table(measured);
  }
}

}  // namespace

void add_compile(const Command& program) {
  auto options = std::make_shared<CompileOptions>();
  const Command command = program.subcommand("compile", "Cold time from tensor code to programs");
  command.option("--model", options->model, "matmul, block, resnet18 or all")
      .one_of({"all", "matmul", "block", "resnet18"});
  command.option("--repeat", options->repeat, "Processes per model; medians are reported")
      .positive();
  command.flag("--json", options->as_json, "One line of JSON");
  command.flag("--in-this-process", options->in_this_process, "").hidden();
  command.action([options] { run_compile(*options); });
}

}  // namespace croze::bench
