// info.cpp -- croze info MODEL: what an ONNX or GGUF model, or a checkpoint of PyTorch, is made of.
#include <croze/base/printable.h>
#include <croze/io/onnx/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "gguf_info.h"
#include "pytorch_info.h"

namespace croze::tool {
namespace {

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
  fmt::print("{}\n", json.dump());
}

void append_ports(std::string& text, const char* title, const std::vector<onnx::Port>& ports) {
  for (const onnx::Port& port : ports) {
    text += fmt::format("{:<10} {}: {} {}{}\n", title, port.name, port.type, shape_text(port),
                        port.has_default ? ", has a default" : "");
    title = "";
  }
}

std::string text_of(const onnx::Model& model) {
  const onnx::Summary s = model.summary();
  std::string text;
  append_ports(text, "inputs", model.inputs());
  append_ports(text, "outputs", model.outputs());
  for (const auto& [domain, version] : s.opsets) {
    text += fmt::format("{:<10} {}{}\n", "opset", version, domain.empty() ? "" : " of " + domain);
  }
  std::vector<std::pair<std::int64_t, std::string>> operators;
  for (const auto& [name, count] : s.operators) operators.emplace_back(-count, name);
  std::ranges::sort(operators);
  std::string list;
  for (const auto& [count, name] : operators) list += fmt::format(" {} {}", -count, name);
  text += fmt::format("{:<10} {}:{}\n", "nodes", s.nodes, list);
  for (const std::string& name : s.missing) text += fmt::format("{:<10} {}\n", "missing", name);
  text += fmt::format("{:<10} {}\n", "parameters", s.parameters);
  text += fmt::format("{:<10} {} bytes, IR version {}, by {}\n", "file", s.file_bytes, s.ir_version,
                      s.producer.empty() ? "unknown" : s.producer);
  return text;
}

}  // namespace

void add_info(const Command& program) {
  const Command command = program.subcommand(
      "info", "Say what an ONNX or GGUF model, or a checkpoint of PyTorch, is made of");
  const auto path = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  command.option("model", *path, "File of the model").required();
  command.flag("--json", *as_json, "Print one line of JSON");
  command.action([path, as_json] {
    if (is_gguf(*path)) return print_gguf_info(*path, *as_json);
    if (is_pytorch(*path)) return print_pytorch_info(*path, *as_json);
    const onnx::Model model(*path);
    if (*as_json) {
      print_json(*path, model);
    } else {
      fmt::print("{}", printable(text_of(model)));  // names may hold anything
    }
  });
}

}  // namespace croze::tool
