// export.cpp -- croze export MODEL.onnx: a model as plain C, or as a module for browsers.
#include <croze/base/error.h>
#include <croze/export/onnx.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>

#include "command_line/json.h"
#include "commands.h"
#include "model_inputs.h"
#include "sizes.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string model, folder, name;
  std::string target = "c", weights = "embedded", machine = "portable";
  std::vector<std::string> sizes, constants;
  bool json = false;
};

// "mobilenet_v2" of "models/MobileNet-v2.onnx".
std::string name_of_file(const std::string& path) {
  std::string name;
  for (char c : std::filesystem::path(path).stem().string()) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 128 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
  }
  const bool starts_well = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0]));
  return starts_well ? name : "model_" + name;
}

OnnxInputs inputs_of(const Settings& settings) {
  OpenedSizes sizes = opened_sizes_of(settings.sizes);
  OnnxInputs inputs{.sizes = std::move(sizes.closed), .open = std::move(sizes.open)};
  for (const auto& [name, value] : inputs_from_files(settings.constants)) {
    inputs.constants.emplace(name, value.tensor());
  }
  return inputs;
}

// Of either target.
template <typename Summary>
void report(const Settings& settings, const std::string& name, const Summary& summary) {
  if (settings.json) {
    const Json result{{"name", name},
                      {"files", summary.files},
                      {"arena_bytes", summary.arena_bytes},
                      {"state_bytes", summary.state_bytes},
                      {"weight_bytes", summary.weight_bytes},
                      {"kernels", summary.kernels},
                      {"calls", summary.calls}};
    fmt::print("{}\n", result.dump());
    return;
  }
  for (const std::string& file : summary.files) fmt::print("{}\n", file);
  fmt::print("{} kernels in {} calls; bytes: {} of weights, {} of state, {} of arena\n",
             summary.kernels, summary.calls, summary.weight_bytes, summary.state_bytes,
             summary.arena_bytes);
}

void export_model(const Settings& settings) {
  const bool is_web = settings.target == "webgpu";
  check(!is_web || (settings.machine == "portable" && settings.weights == "embedded"),
        "--machine and --weights are of the target c");
  const onnx::Model model(settings.model);
  const OnnxInputs inputs = inputs_of(settings);
  const std::string name = settings.name.empty() ? name_of_file(settings.model) : settings.name;
  if (is_web) {
    return report(settings, name, export_webgpu(model, inputs, settings.folder, {.name = name}));
  }
  CExportOptions options;
  options.name = name;
  options.machine = settings.machine;
  options.embed_weights = settings.weights == "embedded";
  report(settings, name, export_c(model, inputs, settings.folder, options));
}

}  // namespace

void add_export(const Command& program) {
  const Command command =
      program.subcommand("export", "Write an ONNX model as a program that needs no croze");
  const auto s = std::make_shared<Settings>();
  command.option("model", s->model, "File of the model").required();
  command.option("-o,--output-dir", s->folder, "Folder for what is written").required();
  command
      .option("--target", s->target,
              "What to write: C11 that needs libc and libm alone, or a module and a page for "
              "browsers with WebGPU")
      .one_of({"c", "webgpu"})
      .shows_default();
  command.option("--machine", s->machine, "What the kernels are made for")
      .one_of({"portable", "arm64", "x86-64-v3", "x86-64-v4"})
      .shows_default();
  command.option("--name", s->name, "Name of files and functions; that of the model's file");
  command.option("--size", s->sizes,
                 "NAME=NUMBER for a size that the model leaves open, or NAME=LEAST..MOST, with "
                 ":MULTIPLE or without, for one that stays so");
  command.option("--constant", s->constants,
                 "NAME=FILE.npy for an input that keeps this value, or FILE.npz with several");
  command.option("--weights", s->weights, "In the source as arrays, or in a file beside it")
      .one_of({"embedded", "beside"})
      .shows_default();
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { export_model(*s); });
}

}  // namespace croze::tool
