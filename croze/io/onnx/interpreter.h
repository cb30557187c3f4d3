// interpreter.h -- internal to io/onnx: a loaded model, and one run of it.
//
// Nodes are run in the order of the file.  An operator's function records tensor operations; only
// values that decide how to go on (shapes, conditions, numbers of rounds) are computed on the way,
// the rest at the end and together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/io/onnx/node_call.h"
#include "croze/io/onnx/tensor_data.h"

namespace croze::onnx {

// Versions of the operator sets that a model or function is written in.
using Opsets = std::vector<OpsetImport>;

// A model made ready to run.  Immutable.
struct Program {
  std::string path;
  std::shared_ptr<const MappedFile> file;
  ModelProto proto;
  // Every tensor of the file that stands in an attribute or initializes a name.
  std::unordered_map<const void*, Value> constants;
  // Per list of nodes and per node: names that nothing reads afterwards.
  std::unordered_map<const std::vector<NodeProto>*, std::vector<std::vector<std::string_view>>>
      last_uses;
};

std::shared_ptr<const Program> load_program(const std::string& path);

// The names that nodes see.
struct Frame {
  const Frame* outer = nullptr;  // of the graph around a subgraph
  const Opsets* opsets = nullptr;
  const NodeCall* caller = nullptr;  // of a function
  const FunctionProto* function = nullptr;
  std::unordered_map<std::string_view, Value> values;

  // Null if no frame around has the name.
  const Value* find(std::string_view name) const;
};

class Interpreter {
 public:
  explicit Interpreter(const Program& program) : program_(program) {}

  // Runs a graph; `inputs` are bound to its inputs in order, further ones to nothing.
  std::vector<Value> run(const GraphProto& graph, std::vector<Value> inputs, const Frame* outer,
                         const Opsets& opsets);

  const Program& program() const { return program_; }
  // After an Error: the tensors that the node at fault takes.
  std::span<const Tensor> read_in_vain() const { return read_in_vain_; }
  // Computes all tensors that a node of some frame may still read.
  void compute_live_values(const Tensor& wanted);

 private:
  void run_nodes(const std::vector<NodeProto>& nodes, Frame& frame);
  void run_node(const NodeProto& node, Frame& frame);
  Results call_function(const FunctionProto& function, const NodeCall& call);
  void note_failure(const NodeProto& node, const Frame& frame);
  void load_constants(const GraphProto& graph, Frame& frame);

  const Program& program_;
  std::vector<Frame*> frames_;  // at work, innermost last
  std::vector<Tensor> read_in_vain_;
  bool has_failed_ = false;
};

}  // namespace croze::onnx
