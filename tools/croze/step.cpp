// step.cpp -- croze step: an ONNX model as a step file, which runs without a compiler.
#include <croze/base/error.h>
#include <croze/base/printable.h>
#include <croze/io/onnx/captured.h>
#include <croze/prepared/prepared_step.h>
#include <croze/tensor/print.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "model_inputs.h"
#include "output_files.h"
#include "sizes.h"

namespace croze::tool {
namespace {

// ---- save and info ----------------------------------------------------------------------------

Json json_of(std::span<const StepValue> values) {
  Json list = Json::array();
  for (const StepValue& v : values) {
    list.push_back({{"name", v.name},
                    {"dtype", name_of(v.dtype)},
                    {"shape", std::vector<std::int64_t>(v.shape.begin(), v.shape.end())}});
  }
  return list;
}

void print_values(const char* kind, std::span<const StepValue> values) {
  for (const StepValue& v : values) {
    fmt::print("{:7} {}: {} {}\n", kind, printable(v.name), name_of(v.dtype), to_text(v.shape));
  }
}

void print_step(const std::string& path, const PreparedStep& step, bool as_json) {
  const StepSizes sizes = step.sizes();
  if (as_json) {
    const Json result{{"step", path},
                      {"inputs", json_of(step.inputs())},
                      {"results", json_of(step.results())},
                      {"state", json_of(step.state())},
                      {"kernels", sizes.kernels},
                      {"calls", sizes.calls},
                      {"code_bytes", sizes.code_bytes},
                      {"memory_bytes", sizes.memory_bytes},
                      {"weight_bytes", sizes.weight_bytes}};
    fmt::print("{}\n", result.dump());
    return;
  }
  print_values("input", step.inputs());
  print_values("result", step.results());
  print_values("state", step.state());
  fmt::print(
      "{} kernels in {} calls; bytes: {} of code, {} of weights, {} of memory for each "
      "instance\n",
      sizes.kernels, sizes.calls, sizes.code_bytes, sizes.weight_bytes, sizes.memory_bytes);
}

struct SaveSettings {
  std::string model, output, weights = "embedded";
  std::vector<std::string> sizes, constants;
  bool json = false;
};

void save_step(const SaveSettings& settings) {
  const onnx::Model model(settings.model);
  OnnxInputs known{.sizes = sizes_of(settings.sizes)};
  for (const auto& [name, value] : inputs_from_files(settings.constants)) {
    known.constants.emplace(name, value.tensor());
  }
  const CapturedModel captured = capture_model(model, known);
  const PreparedStep step =
      prepare(captured.step, {.inputs = captured.inputs, .results = captured.outputs});
  SaveStepOptions options;
  if (settings.weights == "beside") {
    options.weights = std::filesystem::path(settings.output).filename().string() + ".weights";
  }
  step.save(settings.output, options);
  print_step(settings.output, step, settings.json);
}

// ---- run --------------------------------------------------------------------------------------

struct RunSettings {
  std::string file, output_folder;
  std::vector<std::string> inputs;
  std::int64_t runs = 1;
  bool json = false;
};

void give_inputs(const PreparedStep& step, const ModelInputs& given, StepInstance& instance) {
  std::size_t known = 0;
  for (std::int64_t i = 0; i < std::ssize(step.inputs()); i++) {
    const StepValue& input = step.inputs()[static_cast<std::size_t>(i)];
    const auto found = given.find(input.name);
    check(found != given.end(), "input \"{}\" is not given", printable(input.name));
    const Tensor& value = found->second.tensor();
    check(value.shape() == input.shape && value.dtype() == input.dtype,
          "input \"{}\" is {} {}, not {} {}", printable(input.name), name_of(input.dtype),
          to_text(input.shape), name_of(value.dtype()), to_text(value.shape()));
    std::ranges::copy(value.to_bytes(), instance.input(i).begin());
    known++;
  }
  check(known == given.size(), "{} inputs are given to a step that has {}", given.size(), known);
}

void run_step(const RunSettings& settings) {
  const PreparedStep step = load_step(settings.file);
  StepInstance instance = step.instance();
  give_inputs(step, inputs_from_files(settings.inputs), instance);
  if (!settings.output_folder.empty()) make_output_folder(settings.output_folder);
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < settings.runs; i++) instance.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  Json list = json_of(step.results());
  for (std::size_t i = 0; i < step.results().size() && !settings.output_folder.empty(); i++) {
    const StepValue& v = step.results()[i];
    const Tensor value =
        Tensor::from_bytes(instance.result(static_cast<std::int64_t>(i)), v.dtype, v.shape);
    list.elements()[i]["file"] = save_output(settings.output_folder, v.name, value);
  }
  const double each = seconds.count() / static_cast<double>(settings.runs);
  if (settings.json) {
    const Json result{{"step", settings.file}, {"seconds_a_run", each}, {"results", list}};
    fmt::print("{}\n", result.dump());
    return;
  }
  print_values("result", step.results());
  fmt::print("{:.1f} us a run\n", each * 1e6);
}

// ---- the commands -----------------------------------------------------------------------------

void add_save(const Command& group) {
  const Command command =
      group.subcommand("save", "Compile an ONNX model for this kind of processor into a file");
  const auto s = std::make_shared<SaveSettings>();
  command.option("model", s->model, "File of the model").required();
  command.option("-o,--output", s->output, "File to write").required();
  command.option("--size", s->sizes, "NAME=NUMBER for a size that the model leaves open");
  command.option("--constant", s->constants,
                 "NAME=FILE.npy for an input that keeps this value, or FILE.npz with several");
  command.option("--weights", s->weights, "In the file, or in FILE.weights beside it")
      .one_of({"embedded", "beside"})
      .shows_default();
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { save_step(*s); });
}

void add_run_of_step(const Command& group) {
  const Command command = group.subcommand("run", "Run a step over arrays in files, on one thread");
  const auto s = std::make_shared<RunSettings>();
  command.option("file", s->file, "File of the step").required();
  command.option("--input", s->inputs, "NAME=FILE.npy, or FILE.npz with arrays by name");
  command.option("--output-dir", s->output_folder, "Folder for the results, as NAME.npy");
  command.option("--runs", s->runs, "How many times, state and all").positive();
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { run_step(*s); });
}

void add_info_of_step(const Command& group) {
  const Command command = group.subcommand("info", "What a step takes, gives and weighs");
  const auto s = std::make_shared<RunSettings>();
  command.option("file", s->file, "File of the step").required();
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { print_step(s->file, load_step(s->file), s->json); });
}

}  // namespace

void add_step(const Command& program) {
  const Command group =
      program.group("step", "Models as files that run in real time and need no compiler");
  add_save(group);
  add_run_of_step(group);
  add_info_of_step(group);
}

}  // namespace croze::tool
