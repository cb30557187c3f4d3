// profile.cpp -- croze profile: where time goes.  Of an ONNX model by node and by kernel; of a
// program, a language model or a trace by module, call and kernel (viz/profile_trace.h).
//
// The kernels of an ONNX model are timed one by one, each waited for.  So the times together are
// what the kernels take, and a run takes a little more.
#include <croze/base/error.h>
#include <croze/base/options.h>
#include <croze/base/printable.h>
#include <croze/io/onnx/model.h>
#include <croze/run/launch_timing.h>
#include <croze/tensor/explain.h>
#include <croze/tensor/registry.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line/json.h"
#include "commands.h"
#include "llm/profile_llm.h"
#include "model_inputs.h"
#include "run_options.h"
#include "viz/profile_trace.h"
#include "viz/trace_exports.h"
#include "viz/trace_file.h"

namespace croze::tool {
namespace {

struct Settings {
  std::vector<std::string> line;  // a model or trace, or a program and its arguments
  std::string compare;
  TraceExports exports;
  RunOptions options;
  std::vector<std::string> inputs, sizes;
  std::int64_t runs = 10;
  bool json = false;
};

// What is timed together: under one name, in one run.
struct Row {
  std::string name;
  std::vector<std::string> nodes;
  std::int64_t launches = 0;
  double seconds = 0;
  std::int64_t flops = 0, bytes = 0;
};

struct Profile {
  std::vector<Row> nodes, kernels;  // the slowest first
  double seconds = 0;               // of all kernels
};

void add_tensors(const onnx::Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.tensor());
  if (value.kind() != onnx::Value::Kind::Sequence) return;
  for (const onnx::Value& item : value.items()) add_tensors(item, tensors);
}

// The outputs, of which nothing is computed but what the model must know to go on.
std::vector<Tensor> recorded(const onnx::Model& model, const ModelInputs& inputs) {
  Registry::instance().forget_values();
  const Capturing recording(Capturing::Computes::Constants);
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : model.run(inputs)) add_tensors(value, tensors);
  return tensors;
}

Row& row_of(std::vector<Row>& rows, const std::string& name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row != rows.end() ? *row : rows.emplace_back(Row{.name = name, .nodes = {}});
}

// What one run took; `parts`: of each launch, the nodes that it computes.
Profile profile_of(const std::vector<LaunchTime>& times,
                   const std::vector<std::vector<std::string>>& parts) {
  Profile profile;
  for (const LaunchTime& t : times) {
    const auto& nodes = parts[static_cast<std::size_t>(t.launch)];
    const std::string together = nodes.empty() ? "?" : fmt::format("{}", fmt::join(nodes, " + "));
    profile.seconds += t.seconds;
    for (Row* row : {&row_of(profile.nodes, together), &row_of(profile.kernels, t.kernel)}) {
      row->launches++;
      row->seconds += t.seconds;
      row->flops += t.flops;
      row->bytes += t.bytes;
      for (const std::string& node : nodes) {
        if (std::ranges::find(row->nodes, node) == row->nodes.end()) row->nodes.push_back(node);
      }
    }
  }
  for (std::vector<Row>* rows : {&profile.nodes, &profile.kernels}) {
    std::ranges::stable_sort(*rows, std::ranges::greater(), &Row::seconds);
  }
  return profile;
}

// Of the fastest run: the others were disturbed.
Profile best_profile(const onnx::Model& model, const ModelInputs& inputs, std::int64_t runs) {
  model.run(inputs);  // compiles
  std::vector<std::vector<std::string>> parts;
  {
    const Options::Scope noting{{Option::Explain, true}};
    for (ExplainedLaunch& l : explain(recorded(model, inputs)).launches) {
      parts.push_back(std::move(l.parts));
    }
  }
  Profile best;
  for (std::int64_t run = 0; run < runs; run++) {
    const std::vector<Tensor> outputs = recorded(model, inputs);
    const LaunchTiming timing;
    realize(outputs);
    Profile profile = profile_of(timing.times(), parts);
    if (run == 0 || profile.seconds < best.seconds) best = std::move(profile);
  }
  return best;
}

// ---- output -----------------------------------------------------------------------------------

double rate(std::int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds * 1e-9 : 0;
}

void print_rows(const char* title, const std::vector<Row>& rows, double all, bool names_nodes) {
  fmt::print("{:>10} {:>6} {:>6} {:>9} {:>8}  {}\n", "us", "%", "times", "GFLOP/s", "GB/s", title);
  for (const Row& r : rows) {
    fmt::print("{:>10.1f} {:>6.1f} {:>6} {:>9.2f} {:>8.2f}  {}\n", r.seconds * 1e6,
               all > 0 ? r.seconds / all * 100 : 0, r.launches, rate(r.flops, r.seconds),
               rate(r.bytes, r.seconds), printable(r.name));
    if (!names_nodes) continue;
    for (const std::string& node : r.nodes) fmt::print("{:>44}  {}\n", "", printable(node));
  }
}

Json json_of(const std::vector<Row>& rows, const char* name) {
  Json list = Json::array();
  for (const Row& r : rows) {
    Json row{{"nodes", r.nodes},
             {"launches", r.launches},
             {"seconds", r.seconds},
             {"flops", r.flops},
             {"bytes", r.bytes}};
    if (name) row[name] = r.name;
    list.push_back(std::move(row));
  }
  return list;
}

void profile_model(const Settings& settings) {
  const Options::Scope scope = settings.options.scope();
  const onnx::Model model(settings.line[0]);
  ModelInputs inputs = inputs_from_files(settings.inputs);
  add_zeros(model, settings.sizes, inputs);
  const Profile profile = best_profile(model, inputs, settings.runs);
  if (settings.json) {
    const Json json{{"model", settings.line[0]},
                    {"runs", settings.runs},
                    {"seconds", profile.seconds},
                    {"by_node", json_of(profile.nodes, nullptr)},
                    {"by_kernel", json_of(profile.kernels, "kernel")}};
    fmt::print("{}\n", json.dump());
    return;
  }
  print_rows("nodes", profile.nodes, profile.seconds, false);
  fmt::print("\n");
  print_rows("kernel, and its nodes", profile.kernels, profile.seconds, true);
  fmt::print("\n{:.1f} us in kernels, in the fastest of {} runs\n", profile.seconds * 1e6,
             settings.runs);
}

void show_trace(const Settings& settings, const TraceFile& file) {
  settings.exports.write(file.trace());
  profile_trace(settings.line[0], file.trace(), settings.json);
}

void profile(const Settings& settings) {
  const std::string& path = settings.line[0];
  if (!settings.compare.empty()) return compare_traces(settings.compare, path, settings.json);
  if (path.ends_with(".gguf")) {
    const Options::Scope scope = settings.options.scope();
    return show_trace(settings, trace_of_language_model(path));
  }
  const bool is_model = !is_program(path) && std::filesystem::exists(path) && !is_trace(path);
  if (!is_model) return show_trace(settings, trace_of(settings.line, false));
  check(!settings.exports.any(), "--chrome and --folded are for programs and traces");
  check(settings.line.size() == 1, "{} is no program that could take arguments", path);
  profile_model(settings);
}

}  // namespace

void add_profile(const Command& program) {
  const Command command = program.subcommand(
      "profile",
      "Time a run of an ONNX model by node and by kernel; show by module, call and kernel what a "
      "program, a language model or a trace (CROZE_TRACE) spends its time on");
  const auto s = std::make_shared<Settings>();
  command
      .option("path", s->line,
              "Model (ONNX or GGUF), trace, or a program to run and trace; arguments of it that "
              "begin with - come after --")
      .required();
  command.option("--input", s->inputs,
                 "NAME=FILE.npy, or FILE.npz with arrays by name; others are zeros");
  command.option("--size", s->sizes, "NAME=NUMBER for a size that the model leaves open");
  command.option("--runs", s->runs, "Runs that are timed").in_range(1, 1'000'000).shows_default();
  s->options.add_to(command);
  command.option("--compare", s->compare, "File of a trace from before, to compare a trace with");
  s->exports.add_to(command);
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { profile(*s); });
}

}  // namespace croze::tool
