// run.cpp -- croze run MODEL.onnx: a model over arrays in files.
#include <croze/base/printable.h>
#include <croze/io/onnx/model.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "model_inputs.h"
#include "output_files.h"
#include "run_options.h"

namespace croze::tool {
namespace {

using onnx::Value;

struct Settings {
  std::string model, output_folder;
  RunOptions options;
  std::vector<std::string> inputs;
  bool json = false;
};

// Writes a value if a folder is given; says what it is.
Json saved(const std::string& name, const Value& value, const std::string& folder) {
  Json json{{"name", name}, {"value", describe(value)}};
  if (value.kind() == Value::Kind::Sequence) {
    json["items"] = Json::array();
    for (std::size_t i = 0; i < value.items().size(); i++) {
      json["items"].push_back(saved(fmt::format("{}_{}", name, i), value.items()[i], folder));
    }
  } else if (value.kind() == Value::Kind::Texts) {
    json["texts"] = value.texts().elements;
  } else if (value.is_tensor() && !folder.empty()) {
    json["file"] = save_output(folder, name, value.tensor());
  }
  return json;
}

void run_model(const Settings& settings) {
  const Options::Scope scope = settings.options.scope();
  const onnx::Model model(settings.model);
  const ModelInputs inputs = inputs_from_files(settings.inputs);
  if (!settings.output_folder.empty()) make_output_folder(settings.output_folder);
  const auto begin = std::chrono::steady_clock::now();
  const auto outputs = model.run(inputs);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  Json list = Json::array();
  for (const onnx::Port& port : model.outputs()) {
    list.push_back(saved(port.name, outputs.at(port.name), settings.output_folder));
  }
  if (settings.json) {
    const Json result{{"model", settings.model}, {"seconds", seconds.count()}, {"outputs", list}};
    fmt::print("{}\n", result.dump());
    return;
  }
  for (const Json& output : list.elements()) {
    fmt::print("{}: {}{}\n", printable(output["name"].get<std::string>()),
               output["value"].get<std::string>(),
               output.contains("file") ? " -> " + output["file"].get<std::string>() : "");
  }
  fmt::print("{:.3f} s\n", seconds.count());
}

}  // namespace

void add_run(const Command& program) {
  const Command command = program.subcommand("run", "Run an ONNX model over arrays in files");
  const auto s = std::make_shared<Settings>();
  command.option("model", s->model, "File of the model").required();
  command.option("--input", s->inputs, "NAME=FILE.npy, or FILE.npz with arrays by name");
  command.option("--output-dir", s->output_folder, "Folder for the outputs, as NAME.npy");
  s->options.add_to(command);
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s] { run_model(*s); });
}

}  // namespace croze::tool
