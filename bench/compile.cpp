// compile.cpp -- croze-bench compile: milliseconds from tensor code to programs ready to launch.
//
// Cold means that loading libraries, building the rule tables and starting LLVM count, and that no
// cache helps; warm, that all programs are on disk.  Every measurement is a process of its own.
// Nothing is executed.  Another build of this program, of an earlier commit, is measured in turns
// with this one.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/json.h"
#include "command_line/process.h"
#include "command_line/temporary_folder.h"
#include "corpus/traces.h"
#include "croze/base/error.h"
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

constexpr double most_of_before = 0.65;
constexpr double most_of_cold = 0.08;

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

struct CompileOptions {
  std::string model = "all";
  int repeat = 5;
  std::string before;  // another build of this program
  bool as_json = false;
  bool in_this_process = false;
};

const std::vector<std::pair<std::string, std::string>> without_cache = {{"CROZE_CACHE", "0"}};

std::vector<std::string> arguments_for(const Model& model) {
  return {"compile", "--in-this-process", "--model", model.name};
}

// Of processes one after the other, of which the first fills the cache.
class WarmProcesses {
 public:
  explicit WarmProcesses(const Model& model)
      : model_(model), variables_{{"CROZE_CACHE", "1"}, {"CROZE_CACHE_DIR", folder_.path()}} {
    measure_next();
  }

  Json measure_next() { return Json::parse(run_self(arguments_for(model_), variables_)); }

 private:
  const Model& model_;
  TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> variables_;
};

Json measure_before(const Model& model, const std::string& program) {
  std::vector<std::string> line = arguments_for(model);
  line.insert(line.begin(), program);
  const ProcessResult ended = run_process(line, without_cache);
  check(ended.status == 0, "{} ended with status {}", program, ended.status);
  return Json::parse(ended.output);
}

double total_ms(const Json& measured) { return measured["total_ms"].get<double>(); }

Json measure(const Model& model, const CompileOptions& options) {
  std::vector<Json> runs;
  std::vector<double> warm, before;
  WarmProcesses warm_processes(model);
  for (int i = 0; i < options.repeat; i++) {
    const Stopwatch process;
    runs.push_back(Json::parse(run_self(arguments_for(model), without_cache)));
    runs.back()["process_ms"] = process.ms();
    warm.push_back(total_ms(warm_processes.measure_next()));
    if (options.before.empty()) continue;
    before.push_back(total_ms(measure_before(model, options.before)));
  }
  Json result = median(runs);
  result["model"] = model.name;
  result["limit_ms"] = model.limit_ms;
  result["within_limit"] = total_ms(result) <= model.limit_ms;
  result["warm_ms"] = median(warm);
  if (!before.empty()) result["before_ms"] = median(before);
  return result;
}

// Of medians: a few processes tell nothing.
Json limits_of(const Json& measured, int repeat) {
  constexpr int least_repeat = 3;
  Json rows = Json::array();
  if (repeat < least_repeat) return rows;
  for (const Json& m : measured.elements()) {
    const std::string model = m["model"].get<std::string>();
    const double cold = total_ms(m);
    rows.push_back(limited(model + " cold", cold, "ms", m["limit_ms"].get<double>(), Limit::Most));
    rows.push_back(limited(model + " warm", m["warm_ms"].get<double>() / cold, "x cold",
                           most_of_cold, Limit::Most));
    if (!m.contains("before_ms")) continue;
    rows.push_back(limited(model + " cold, this commit", cold / m["before_ms"].get<double>(),
                           "x before", most_of_before, Limit::Most));
  }
  return rows;
}

void print_table(const Json& measured) {
  fmt::print(
      "cold ms       trace  schedule  codegen     llvm    total      cpu  limit  kernels     warm"
      "   before\n");
  for (const Json& m : measured.elements()) {
    const auto ms = [&](const char* name) { return m[name].get<double>(); };
    fmt::print("{:10} {:8.1f} {:9.1f} {:8.1f} {:8.1f} {:8.1f} {:8.1f} {:6.0f} {:8} {:8.1f} {:>8}\n",
               m["model"].get<std::string>(), ms("trace_and_gradient_ms"), ms("schedule_ms"),
               ms("codegen_ms"), ms("llvm_ms"), ms("total_ms"), ms("cpu_ms"), ms("limit_ms"),
               m["kernels"].get<int>(), ms("warm_ms"),
               m.contains("before_ms") ? fmt::format("{:.1f}", ms("before_ms")) : "");
  }
  fmt::print("codegen and llvm are summed over threads; cpu is the whole process\n");
}

void run_compile(const CompileOptions& options) {
  if (options.in_this_process) {
    fmt::print("{}\n", measure_here(model_named(options.model)).dump());
    return;
  }
  Json measured = Json::array();
  for (const Model& m : models) {
    if (options.model == "all" || options.model == m.name) {
      measured.push_back(measure(m, options));
    }
  }
  const Json rows = limits_of(measured, options.repeat);
  if (!options.as_json) {
    print_table(measured);
    print_limited(rows);
  }
  finish_suite("compile", rows, options.as_json,
               {{"repeat", options.repeat}, {"models", measured}});
}

}  // namespace

void add_compile(const Command& program) {
  auto options = std::make_shared<CompileOptions>();
  const Command command = program.subcommand("compile", "Cold time from tensor code to programs");
  command.option("--model", options->model, "matmul, block, resnet18 or all")
      .one_of({"all", "matmul", "block", "resnet18"});
  command.option("--repeat", options->repeat, "Processes per model; medians are reported")
      .positive();
  command.option("--before", options->before,
                 "The croze-bench of an earlier commit, which is measured in turns");
  command.flag("--json", options->as_json, "One line of JSON");
  command.flag("--in-this-process", options->in_this_process, "").hidden();
  command.action([options] { run_compile(*options); });
}

}  // namespace croze::bench
