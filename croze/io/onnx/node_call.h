// node_call.h -- a node at work: what an operator's function may ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "croze/io/onnx/operator.h"
#include "croze/io/onnx/proto.h"
#include "croze/io/onnx/value.h"

namespace croze::onnx {

class Interpreter;
struct Frame;

class NodeCall {
 public:
  NodeCall(Interpreter& interpreter, const Frame& frame, const NodeProto& node,
           std::int64_t version);

  const NodeProto& node() const { return node_; }
  // The opset of the node's domain.
  std::int64_t version() const { return version_; }

  // ---- inputs: by position; all throw Error if the input was left out -------------------------

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < num_inputs() && inputs_[static_cast<std::size_t>(i)]; }
  const Value& value(int i) const;
  const Tensor& operator[](int i) const { return value(i).tensor(); }
  // An undefined tensor if the input was left out.
  Tensor optional(int i) const { return has(i) ? (*this)[i] : Tensor(); }
  // All inputs, which must be tensors.
  std::vector<Tensor> tensors() const;
  // The elements on the host.  They are computed for that if they must be, and with them all that
  // is alive, so that nothing is computed twice.
  std::vector<std::int64_t> integers(int i) const;
  std::vector<double> numbers(int i) const;
  std::int64_t integer(int i) const;
  double number(int i) const;
  // The element, or `missing` if the input was left out.
  std::int64_t integer_or(int i, std::int64_t missing) const;
  // The same where they are known already, or cost no kernel.
  std::optional<std::vector<std::int64_t>> known_integers(int i) const;

  // The value of any name that the node can see.
  const Value& named(std::string_view name) const;

  // ---- outputs --------------------------------------------------------------------------------

  int num_outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int i) const;
  // A tensor of the element type of input i.
  Value like(int i, const Tensor& tensor) const { return {tensor, value(i).element_type()}; }

  // ---- attributes -----------------------------------------------------------------------------

  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t missing) const;
  double real(std::string_view name, double missing) const;
  bool flag(std::string_view name, bool missing = false) const {
    return integer(name, missing ? 1 : 0) != 0;
  }
  std::string_view text(std::string_view name, std::string_view missing) const;
  // Empty if the attribute is missing.
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string_view> texts(std::string_view name) const;
  // These throw Error if the attribute is missing.
  std::int64_t required_integer(std::string_view name) const;
  Value constant(std::string_view name) const;
  const GraphProto& graph(std::string_view name) const;

  // The attribute itself; in a function, the one of its caller that it refers to.
  const Attribute* find(std::string_view name) const;

  // ---- running --------------------------------------------------------------------------------

  // Runs a graph of an attribute, which sees the names around this node, over `inputs`.
  std::vector<Value> run(const GraphProto& graph, std::vector<Value> inputs) const;
  // Computes tensors that loops carry, so that each round stands for itself.
  void settle(std::vector<Value>& values) const;

 private:
  friend class Interpreter;

  Interpreter& interpreter_;
  const Frame& frame_;
  const NodeProto& node_;
  std::int64_t version_;
  std::vector<const Value*> inputs_;  // null: left out
};

// An axis, made positive.  Throws Error if a tensor of `rank` axes has none such.
std::int64_t checked_axis(std::int64_t axis, std::int64_t rank);

}  // namespace croze::onnx
