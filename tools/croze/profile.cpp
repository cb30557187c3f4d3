// profile.cpp -- croze profile: where the time of a trace, a program or a model goes, by module,
// call and kernel (viz/profile_trace.h).
#include <croze/base/error.h>
#include <croze/io/onnx/model.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "llm/profile_llm.h"
#include "model_inputs.h"
#include "onnx/profile_onnx.h"
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
  TraceOptions traced;
  RunOptions options;
  std::vector<std::string> inputs, sizes;
  std::int64_t runs = 10;
  bool json = false;
};

TraceFile trace_of_model(const Settings& s) {
  const Options::Scope scope = s.options.scope();
  const std::string& path = s.line[0];
  check(s.line.size() == 1, "{} is no program that could take arguments", path);
  if (path.ends_with(".gguf")) return trace_of_language_model(path, s.traced);
  const onnx::Model model(path);
  ModelInputs inputs = inputs_from_files(s.inputs);
  add_zeros(model, s.sizes, inputs);
  return trace_of_onnx_model(model, inputs, s.runs, s.traced);
}

void profile(const Settings& s) {
  const std::string& path = s.line[0];
  if (!s.compare.empty()) return compare_traces(s.compare, path, s.json);
  const bool is_named_as_model = path.ends_with(".onnx") || path.ends_with(".gguf");
  const bool is_file = !is_program(path) && std::filesystem::exists(path);
  const bool is_model = is_named_as_model || (is_file && !is_trace(path));
  const TraceFile file = is_model ? trace_of_model(s) : trace_of(s.line, s.traced);
  s.exports.write(file.trace());
  profile_trace(path, file.trace(), s.json);
}

}  // namespace

void add_profile(const Command& program) {
  const Command command = program.subcommand(
      "profile",
      "Show by module, call and kernel what a model (ONNX or GGUF), a program or a trace "
      "(CROZE_TRACE) spends its time on");
  const auto s = std::make_shared<Settings>();
  command
      .option("path", s->line,
              "Model (ONNX or GGUF), trace, or a program to run and trace; arguments of it that "
              "begin with - come after --")
      .required();
  command.option("--input", s->inputs,
                 "NAME=FILE.npy, or FILE.npz with arrays by name; others are zeros");
  command.option("--size", s->sizes, "NAME=NUMBER for a size that the model leaves open");
  command.option("--runs", s->runs, "Runs of an ONNX model: the fastest is shown")
      .in_range(1, 1'000'000)
      .shows_default();
  s->options.add_to(command);
  add_samples_flag(command, s->traced);
  command.option("--compare", s->compare, "File of a trace from before, to compare a trace with");
  s->exports.add_to(command);
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { profile(*s); });
}

}  // namespace croze::tool
