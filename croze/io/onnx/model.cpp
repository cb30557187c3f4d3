// model.cpp -- the public face: checks what goes in, names what comes out.
#include "croze/io/onnx/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/io/onnx/interpreter.h"
#include "croze/io/onnx/replays.h"
#include "croze/jit/capture.h"
#include "croze/jit/trace.h"
#include "croze/run/notes/call_notes.h"

namespace croze::onnx {
namespace {

std::string type_text(const TypeProto& type) {
  using Kind = TypeProto::Kind;
  switch (type.kind) {
    case Kind::Tensor: return name_of(type.element);
    case Kind::SparseTensor: return "sparse " + name_of(type.element);
    case Kind::Sequence: return "sequence of " + (type.inner ? type_text(*type.inner) : "unknown");
    case Kind::Optional: return "optional " + (type.inner ? type_text(*type.inner) : "unknown");
    case Kind::Map: return "map";
    case Kind::Unknown: break;
  }
  return "unknown";
}

// What some exporters call every size that is not fixed is no name: such sizes need not be equal.
bool is_name(std::string_view name) { return name != "?" && name != "None" && name != "-1"; }

Port port_of(const ValueInfo& info, bool has_default) {
  Port port{.name = std::string(info.name),
            .type = type_text(info.type),
            .element = info.type.element,
            .has_shape = info.type.shape.has_value(),
            .shape = {},
            .has_default = has_default,
            .is_optional = info.type.kind == TypeProto::Kind::Optional};
  if (!info.type.shape) return port;
  for (const TypeProto::Dim& dim : *info.type.shape) {
    // Some exporters write 0 or -1 for a size that is not fixed.
    const std::int64_t size = dim.value.value_or(-1);
    port.shape.push_back({size > 0 ? size : -1, std::string(is_name(dim.name) ? dim.name : "")});
  }
  return port;
}

// Throws unless the value fits the port; `sizes` are those of the names seen so far.
void check_input(const Port& port, const Value& value, std::map<std::string, std::int64_t>& sizes) {
  if (!value.is_tensor() || port.element == ElementType::Undefined) return;
  check(value.element_type() == port.element, "input \"{}\" is {}, not {}", port.name, port.type,
        describe(value));
  if (!port.has_shape) return;
  const Shape shape = value.shape();
  const auto rank = static_cast<int>(port.shape.size());
  // Scalars are recorded with shape () as well as (1).
  if (shape.numel() == 1 && shape.size() + rank == 1) return;
  check(shape.size() == rank, "input \"{}\" has {} axes, not {}", port.name, rank, shape.size());
  for (int i = 0; i < rank; i++) {
    const Dimension& dim = port.shape[static_cast<std::size_t>(i)];
    check(dim.size < 0 || dim.size == shape[i], "axis {} of input \"{}\" has size {}, not {}", i,
          port.name, dim.size, shape[i]);
    if (dim.size >= 0 || dim.name.empty()) continue;
    const auto [it, is_new] = sizes.emplace(dim.name, shape[i]);
    check(it->second == shape[i], "axis {} of input \"{}\", \"{}\", is {} here and {} elsewhere", i,
          port.name, dim.name, shape[i], it->second);
  }
}

void count_nodes(const std::vector<NodeProto>& nodes, Summary& summary,
                 const std::vector<OpsetImport>& opsets, const ModelProto& proto) {
  std::set<std::string> missing(summary.missing.begin(), summary.missing.end());
  std::vector<const NodeProto*> stack;
  for (const NodeProto& node : nodes) stack.push_back(&node);
  while (!stack.empty()) {
    const NodeProto& node = *stack.back();
    stack.pop_back();
    summary.nodes++;
    const std::string_view domain = node.domain == "ai.onnx" ? "" : node.domain;
    const std::string name =
        domain.empty() ? std::string(node.op) : fmt::format("{}.{}", domain, node.op);
    summary.operators[name]++;
    const auto opset = std::ranges::find_if(opsets, [&](const OpsetImport& o) {
      return (o.domain == "ai.onnx" ? "" : o.domain) == domain;
    });
    const std::int64_t version = opset == opsets.end() ? 0 : opset->version;
    const bool is_function = std::ranges::any_of(proto.functions, [&](const FunctionProto& f) {
      return f.name == node.op && f.domain == node.domain;
    });
    if (!is_function && !find_operator(domain, node.op, version)) missing.insert(name);
    for (const Attribute& a : node.attributes) {
      if (!a.graph) continue;
      for (const NodeProto& inner : a.graph->nodes) stack.push_back(&inner);
    }
  }
  summary.missing.assign(missing.begin(), missing.end());
}

}  // namespace

namespace {

// "image" (float32), "size" (int64)
std::string names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(fmt::format("\"{}\" ({})", port.name, port.type));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string size_name(const Port& port, std::size_t axis) {
  const std::string& name = port.shape[axis].name;
  return name.empty() ? fmt::format("{}.{}", port.name, axis) : name;
}

void check_size_names(const std::vector<Port>& inputs,
                      const std::map<std::string, std::int64_t>& sizes) {
  std::set<std::string> open;
  for (const Port& port : inputs) {
    for (std::size_t axis = 0; axis < port.shape.size(); axis++) {
      if (port.shape[axis].size < 0) open.insert(size_name(port, axis));
    }
  }
  for (const auto& [name, size] : sizes) {
    check(open.contains(name), "the model leaves no size \"{}\" open: those that it does are {}",
          name, open.empty() ? "none" : fmt::format("{}", fmt::join(open, ", ")));
  }
}

Shape shape_of(const Port& port, const std::map<std::string, std::int64_t>& sizes) {
  check(port.has_shape, "input \"{}\" may have any shape, and a number is wanted for each size",
        port.name);
  Shape shape;
  for (std::size_t axis = 0; axis < port.shape.size(); axis++) {
    const Dimension& dim = port.shape[axis];
    const std::string name = size_name(port, axis);
    const auto given = sizes.find(name);
    check(dim.size >= 0 || given != sizes.end(),
          "input \"{}\" has an open size \"{}\": give it a number (on the command line: --size "
          "{}=16)",
          port.name, name, name);
    shape.push_back(dim.size >= 0 ? dim.size : given->second);
  }
  return shape;
}

Value load_recorded(const std::string& path, Recorded kind, Location at) {
  const CallScope scope("onnx::load_recorded", at);
  const auto file = std::make_shared<const MappedFile>(path);
  DataSource source(file, path, "");
  switch (kind) {
    case Recorded::Tensor: return source.value_of(parse_tensor(file->data(), path));
    case Recorded::Sequence: return source.value_of(parse_sequence(file->data(), path));
    case Recorded::Optional: return source.value_of(parse_optional(file->data(), path));
  }
  fail({}, "{} is of no known kind", path);
}

Model::Model(const std::string& path, std::span<const Dim> sizes, Location at) {
  const CallScope scope("onnx::Model", at);
  program_ = load_program(path);
  const GraphProto& graph = program_->proto.graph;
  for (const ValueInfo& info : graph.inputs) {
    const bool has_default = std::ranges::find(graph.initializers, info.name, &TensorProto::name) !=
                             graph.initializers.end();
    inputs_.push_back(port_of(info, has_default));
  }
  for (const ValueInfo& info : graph.outputs) outputs_.push_back(port_of(info, false));
  replays_ = std::make_shared<Replays>(program_, OpenInputs(inputs_, sizes));
}

Summary Model::summary() const {
  const ModelProto& proto = program_->proto;
  Summary result;
  result.ir_version = proto.ir_version;
  result.producer = proto.producer;
  for (const OpsetImport& o : proto.opsets) result.opsets[std::string(o.domain)] = o.version;
  count_nodes(proto.graph.nodes, result, proto.opsets, proto);
  for (const FunctionProto& f : proto.functions) count_nodes(f.nodes, result, f.opsets, proto);
  for (const auto& [key, value] : program_->constants) {
    if (value.is_tensor() && is_float(value.tensor().dtype())) {
      result.parameters += value.tensor().numel();
    }
  }
  result.file_bytes = static_cast<std::int64_t>(program_->file->data().size());
  return result;
}

namespace {

// In the order of the ports; nothing where none is given.
std::vector<Value> checked_inputs(const std::vector<Port>& ports,
                                  const std::map<std::string, Value>& inputs) {
  for (const auto& [name, value] : inputs) {
    check(std::ranges::find(ports, name, &Port::name) != ports.end(),
          "the model has no input \"{}\": its inputs are {}", name, names_of(ports));
  }
  std::vector<Value> values;
  std::map<std::string, std::int64_t> sizes;
  for (const Port& port : ports) {
    const auto given = inputs.find(port.name);
    check(given != inputs.end() || port.has_default || port.is_optional,
          "input \"{}\" ({}) is missing", port.name, port.type);
    values.push_back(given == inputs.end() ? Value() : given->second);
    check_input(port, values.back(), sizes);
  }
  return values;
}

// Computed, and none of them memory of an input or of the model.
std::vector<Value> computed(std::span<const Value> values) {
  std::vector<Tensor> tensors = tensors_of(values);
  for (Tensor& t : tensors) t = new_result(t);
  realize(tensors);
  return with_tensors(values, tensors);
}

}  // namespace

std::map<std::string, Value> Model::run(const std::map<std::string, Value>& inputs,
                                        Location at) const {
  const CallScope scope("onnx::Model::run", at);
  std::vector<Value> values = checked_inputs(inputs_, inputs);
  // What is noted or checked has nodes of the model only when they are recorded.
  const bool may_replay = !is_capturing() && !are_calls_noted();
  std::optional<std::vector<Value>> results;
  if (may_replay) results = replays_->run(values);
  if (!results) {
    Interpreter interpreter(*program_);
    const GraphProto& graph = program_->proto.graph;
    results = interpreter.run(graph, std::move(values), nullptr, program_->proto.opsets);
    if (!is_capturing()) results = computed(*results);
  }
  std::map<std::string, Value> outputs;
  for (std::size_t i = 0; i < results->size(); i++) outputs[outputs_[i].name] = (*results)[i];
  return outputs;
}

}  // namespace croze::onnx
