// info.cpp -- croze info MODEL.onnx: what a model is made of.
#include <croze/io/onnx/model.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace croze::tool {
namespace {

using Json = nlohmann::ordered_json;

// "(batch, 3, ?)"; "any shape" if the file does not say.
std::string shape_text(const onnx::Port& port) {
  if (!port.has_shape) return "any shape";
  std::string text;
  for (const onnx::Dimension& dim : port.shape) {
    if (!text.empty()) text += ", ";
    text += dim.size >= 0 ? std::to_string(dim.size) : dim.name.empty() ? "?" : dim.name;
  }
  return "(" + text + ")";
}

Json json_of(const std::vector<onnx::Port>& ports) {
  Json list = Json::array();
  for (const onnx::Port& port : ports) {
    Json entry{{"name", port.name}, {"type", port.type}};
    if (port.has_shape) {
      Json shape = Json::array();
      for (const onnx::Dimension& dim : port.shape) {
        shape.push_back(dim.size >= 0 ? Json(dim.size) : Json(dim.name));
      }
      entry["shape"] = std::move(shape);
    }
    if (port.has_default) entry["has_default"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

void print_json(const std::string& path, const onnx::Model& model) {
  const onnx::Summary s = model.summary();
  const Json json{{"model", path},
                  {"producer", s.producer},
                  {"ir_version", s.ir_version},
                  {"opsets", s.opsets},
                  {"inputs", json_of(model.inputs())},
                  {"outputs", json_of(model.outputs())},
                  {"nodes", s.nodes},
                  {"operators", s.operators},
                  {"missing_operators", s.missing},
                  {"parameters", s.parameters},
                  {"file_bytes", s.file_bytes}};
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print_ports(const char* title, const std::vector<onnx::Port>& ports) {
  for (const onnx::Port& port : ports) {
    fmt::print("{:<10} {}: {} {}{}\n", title, port.name, port.type, shape_text(port),
               port.has_default ? ", has a default" : "");
    title = "";
  }
}

void print_text(const onnx::Model& model) {
  const onnx::Summary s = model.summary();
  print_ports("inputs", model.inputs());
  print_ports("outputs", model.outputs());
  for (const auto& [domain, version] : s.opsets) {
    fmt::print("{:<10} {}{}\n", "opset", version, domain.empty() ? "" : " of " + domain);
  }
  std::vector<std::pair<std::int64_t, std::string>> operators;
  for (const auto& [name, count] : s.operators) operators.emplace_back(-count, name);
  std::ranges::sort(operators);
  std::string list;
  for (const auto& [count, name] : operators) list += fmt::format(" {} {}", -count, name);
  fmt::print("{:<10} {}:{}\n", "nodes", s.nodes, list);
  for (const std::string& name : s.missing) fmt::print("{:<10} {}\n", "missing", name);
  fmt::print("{:<10} {}\n", "parameters", s.parameters);
  fmt::print("{:<10} {} bytes, IR version {}, by {}\n", "file", s.file_bytes, s.ir_version,
             s.producer.empty() ? "unknown" : s.producer);
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Say what an ONNX model is made of");
  const auto path = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  command->add_option("model", *path, "File of the model")->required();
  command->add_flag("--json", *as_json, "Print one line of JSON");
  command->callback([path, as_json] {
    const onnx::Model model(*path);
    if (*as_json) {
      print_json(*path, model);
    } else {
      print_text(model);
    }
  });
}

}  // namespace croze::tool
