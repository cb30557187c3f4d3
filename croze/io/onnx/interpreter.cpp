// interpreter.cpp -- runs the nodes of a model in order.
#include "croze/io/onnx/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/jit/capture.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze::onnx {
namespace {

// Graphs in graphs and functions in functions; a function that calls itself ends here.
constexpr std::size_t max_frames = 48;

// "Conv (node "backbone/conv1")", for messages.
std::string title(const NodeProto& node) {
  const std::string op =
      node.domain.empty() ? std::string(node.op.substr(0, 80))
                          : fmt::format("{}.{}", node.domain.substr(0, 80), node.op.substr(0, 80));
  return node.name.empty() ? op : fmt::format("{} (node \"{}\")", op, node.name.substr(0, 200));
}

// "ai.onnx" is another spelling of the domain without a name.
std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::int64_t version_of(const Opsets& opsets, std::string_view domain) {
  for (const OpsetImport& o : opsets) {
    if (canonical(o.domain) == domain) return o.version;
  }
  return 0;
}

// ---- what is read when ------------------------------------------------------------------------

void visit_graphs(const NodeProto& node, auto visit) {
  for (const Attribute& a : node.attributes) {
    if (a.graph) visit(*a.graph);
  }
}

// All names that a node reads, those that its graphs read from outside included (and more).
void collect_reads(const NodeProto& node, std::vector<std::string_view>& names) {
  std::vector<const NodeProto*> stack{&node};
  while (!stack.empty()) {
    const NodeProto& n = *stack.back();
    stack.pop_back();
    names.insert(names.end(), n.inputs.begin(), n.inputs.end());
    // Gradient names what it differentiates in an attribute.
    for (const Attribute& a : n.attributes) {
      if (n.op == "Gradient" && a.name == "y") names.push_back(a.s);
    }
    visit_graphs(n, [&](const GraphProto& g) {
      for (const NodeProto& inner : g.nodes) stack.push_back(&inner);
      for (const ValueInfo& o : g.outputs) names.push_back(o.name);
    });
  }
}

std::vector<std::vector<std::string_view>> last_uses(const std::vector<NodeProto>& nodes,
                                                     std::unordered_set<std::string_view> kept) {
  std::vector<std::vector<std::string_view>> result(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    std::vector<std::string_view> names(nodes[i].outputs);
    collect_reads(nodes[i], names);
    for (std::string_view name : names) {
      if (kept.insert(name).second) result[i].push_back(name);
    }
  }
  return result;
}

// ---- loading ----------------------------------------------------------------------------------

class Loader {
 public:
  Loader(Program& program, DataSource& source) : program_(program), source_(source) {}

  void load(const GraphProto& graph) {
    for (const TensorProto& t : graph.initializers) {
      constant(t);
      const Value& value = program_.constants.at(&t);
      if (value.is_tensor()) name_memory(value.tensor(), t.name);
    }
    for (const SparseTensorProto& t : graph.sparse_initializers) constant(t);
    std::unordered_set<std::string_view> outputs;
    for (const ValueInfo& o : graph.outputs) outputs.insert(o.name);
    load(graph.nodes, std::move(outputs));
  }

  // Recursion is as deep as graphs nest, which the parser has bounded.
  void load(const std::vector<NodeProto>& nodes, std::unordered_set<std::string_view> outputs) {
    program_.last_uses[&nodes] = last_uses(nodes, std::move(outputs));
    for (const NodeProto& node : nodes) load(node.attributes);
  }

  void load(const std::vector<Attribute>& attributes) {
    for (const Attribute& a : attributes) {
      if (a.tensor) constant(*a.tensor);
      if (a.sparse_tensor) constant(*a.sparse_tensor);
      if (a.graph) load(*a.graph);
    }
  }

 private:
  void constant(const auto& tensor) { program_.constants[&tensor] = source_.value_of(tensor); }

  Program& program_;
  DataSource& source_;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

std::shared_ptr<const Program> load_program(const std::string& path) {
  constexpr std::int64_t newest_opset = 25;
  auto program = std::make_shared<Program>();
  program->path = path;
  program->file = std::make_shared<const MappedFile>(path);
  program->proto = parse_model(program->file->data(), program->path);
  const ModelProto& proto = program->proto;
  check(!proto.graph.nodes.empty() || !proto.graph.outputs.empty(),
        "{} is not an ONNX model, or cut off: it holds no graph", path);
  const std::int64_t version = version_of(proto.opsets, "");
  check(version <= newest_opset, "{} is written in opset {}; croze knows opsets up to {}", path,
        version, newest_opset);
  DataSource source(program->file, path, folder_of(path));
  Loader loader(*program, source);
  loader.load(proto.graph);
  for (const FunctionProto& f : proto.functions) {
    loader.load(f.nodes, {f.outputs.begin(), f.outputs.end()});
    loader.load(f.defaults);
  }
  return program;
}

// ---- running ----------------------------------------------------------------------------------

const Value* Frame::find(std::string_view name) const {
  for (const Frame* frame = this; frame; frame = frame->outer) {
    const auto it = frame->values.find(name);
    if (it != frame->values.end()) return &it->second;
  }
  return nullptr;
}

void Interpreter::load_constants(const GraphProto& graph, Frame& frame) {
  for (const TensorProto& t : graph.initializers) {
    frame.values.insert_or_assign(t.name, program_.constants.at(&t));
  }
  for (const SparseTensorProto& t : graph.sparse_initializers) {
    frame.values.insert_or_assign(t.values.name, program_.constants.at(&t));
  }
}

std::vector<Value> Interpreter::run(const GraphProto& graph, std::vector<Value> inputs,
                                    const Frame* outer, const Opsets& opsets) {
  check(frames_.size() < max_frames, "graphs and functions nest more than {} deep", max_frames);
  check(inputs.size() <= graph.inputs.size(), "graph \"{}\" takes {} inputs, not {}", graph.name,
        graph.inputs.size(), inputs.size());
  Frame frame;
  frame.outer = outer;
  frame.opsets = &opsets;
  frame.caller = outer ? outer->caller : nullptr;
  frame.function = outer ? outer->function : nullptr;
  load_constants(graph, frame);
  for (std::size_t i = 0; i < graph.inputs.size(); i++) {
    // An initializer is the default of the input of its name.
    if (i < inputs.size() && !inputs[i].is_nothing()) {
      frame.values.insert_or_assign(graph.inputs[i].name, std::move(inputs[i]));
    } else {
      frame.values.try_emplace(graph.inputs[i].name);
    }
  }
  run_nodes(graph.nodes, frame);
  std::vector<Value> outputs;
  for (const ValueInfo& output : graph.outputs) {
    const Value* value = frame.find(output.name);
    check(value != nullptr, "no node gives the output \"{}\"", output.name);
    outputs.push_back(*value);
  }
  return outputs;
}

void Interpreter::run_nodes(const std::vector<NodeProto>& nodes, Frame& frame) {
  frames_.push_back(&frame);
  // The list must shrink again when a node throws.
  struct Popped {
    std::vector<Frame*>& frames;
    ~Popped() { frames.pop_back(); }
  } popped{frames_};
  const auto& last_uses = program_.last_uses.at(&nodes);
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const std::string node = title(nodes[i]);
    const PartScope part(node);
    try {
      run_node(nodes[i], frame);
    } catch (const Error& e) {
      note_failure(nodes[i], frame);
      ErrorDetails details = e.details();
      const std::string within = details.op.empty() ? "" : details.op + ": ";
      details.op = node;
      fail(std::move(details), "{}{}", within, e.message());
    }
    for (std::string_view name : last_uses[i]) frame.values.erase(name);
  }
}

// The innermost node fails first.
void Interpreter::note_failure(const NodeProto& node, const Frame& frame) {
  if (std::exchange(has_failed_, true)) return;
  for (std::string_view name : node.inputs) {
    const Value* value = frame.find(name);
    if (value && value->is_tensor()) read_in_vain_.push_back(value->tensor());
  }
}

void Interpreter::run_node(const NodeProto& node, Frame& frame) {
  const std::string_view domain = canonical(node.domain);
  const std::int64_t version = version_of(*frame.opsets, domain);
  const NodeCall call(*this, frame, node, version);
  Results results;
  const auto& functions = program_.proto.functions;
  const auto function = std::ranges::find_if(functions, [&](const FunctionProto& f) {
    return f.name == node.op && canonical(f.domain) == domain;
  });
  if (function != functions.end()) {
    results = call_function(*function, call);
  } else {
    const Operator* op = find_operator(domain, node.op, version);
    check(op != nullptr, "croze has no such operator in opset {} of {}", version,
          domain.empty() ? "ai.onnx" : domain);
    results = op->function(call);
  }
  for (std::size_t i = 0; i < node.outputs.size(); i++) {
    if (node.outputs[i].empty()) continue;
    check(i < results.size(), "output {} is not given", i);
    frame.values.insert_or_assign(node.outputs[i], std::move(results[i]));
  }
}

Results Interpreter::call_function(const FunctionProto& function, const NodeCall& call) {
  check(frames_.size() < max_frames, "graphs and functions nest more than {} deep", max_frames);
  check(call.num_inputs() <= static_cast<int>(function.inputs.size()),
        "the function takes {} inputs, not {}", function.inputs.size(), call.num_inputs());
  Frame frame;
  frame.opsets = &function.opsets;
  frame.caller = &call;
  frame.function = &function;
  for (std::size_t i = 0; i < function.inputs.size(); i++) {
    const int position = static_cast<int>(i);
    frame.values[function.inputs[i]] = call.has(position) ? call.value(position) : Value();
  }
  run_nodes(function.nodes, frame);
  Results results;
  for (std::string_view name : function.outputs) {
    const Value* value = frame.find(name);
    check(value != nullptr, "no node gives the output \"{}\"", name);
    results.push_back(*value);
  }
  return results;
}

void Interpreter::compute_live_values(const Tensor& wanted) {
  check(
      Capturing::may_compute(wanted),
      "the model must know a value that depends on the data of its inputs, a shape or a condition, "
      "and while a step is captured there are none: run it outside of captured functions");
  if (is_capturing()) return realize({wanted});
  std::vector<Tensor> live{wanted};
  for (const Frame* frame : frames_) {
    for (const auto& [name, value] : frame->values) {
      if (value.is_tensor()) live.push_back(value.tensor());
    }
  }
  realize(live);
}

}  // namespace croze::onnx
