// node_call.cpp -- inputs and attributes of a node.
#include "croze/io/onnx/node_call.h"

#include "croze/base/error.h"
#include "croze/io/onnx/interpreter.h"
#include "croze/tensor/peek.h"

namespace croze::onnx {

NodeCall::NodeCall(Interpreter& interpreter, const Frame& frame, const NodeProto& node,
                   std::int64_t version)
    : interpreter_(interpreter), frame_(frame), node_(node), version_(version) {
  for (std::string_view name : node.inputs) {
    const Value* value = name.empty() ? nullptr : frame.find(name);
    check(name.empty() || value, "its input \"{}\" is not known here", name);
    inputs_.push_back(value && !value->is_nothing() ? value : nullptr);
  }
}

// ---- inputs -----------------------------------------------------------------------------------

const Value& NodeCall::value(int i) const {
  check(has(i), "input {} is missing", i);
  return *inputs_[static_cast<std::size_t>(i)];
}

const Value& NodeCall::named(std::string_view name) const {
  const Value* value = frame_.find(name);
  check(value != nullptr, "\"{}\" is not known here", name);
  return *value;
}

std::vector<Tensor> NodeCall::tensors() const {
  std::vector<Tensor> result;
  for (int i = 0; i < num_inputs(); i++) result.push_back((*this)[i]);
  return result;
}

std::optional<std::vector<std::int64_t>> NodeCall::known_integers(int i) const {
  return peek_integers((*this)[i]);
}

std::vector<std::int64_t> NodeCall::integers(int i) const {
  if (auto known = known_integers(i)) return std::move(*known);
  interpreter_.compute_live_values((*this)[i]);
  return (*this)[i].to_vector<std::int64_t>();
}

std::vector<double> NodeCall::numbers(int i) const {
  if (auto known = peek_numbers((*this)[i])) return std::move(*known);
  interpreter_.compute_live_values((*this)[i]);
  return (*this)[i].to_vector<double>();
}

std::int64_t NodeCall::integer(int i) const {
  const std::vector<std::int64_t> all = integers(i);
  check(all.size() == 1, "input {} has {} elements, not one", i, all.size());
  return all[0];
}

double NodeCall::number(int i) const {
  const std::vector<double> all = numbers(i);
  check(all.size() == 1, "input {} has {} elements, not one", i, all.size());
  return all[0];
}

std::int64_t NodeCall::integer_or(int i, std::int64_t missing) const {
  return has(i) ? integer(i) : missing;
}

bool NodeCall::wants(int i) const {
  return i < num_outputs() && !node_.outputs[static_cast<std::size_t>(i)].empty();
}

// ---- attributes -------------------------------------------------------------------------------

const Attribute* NodeCall::find(std::string_view name) const {
  for (const Attribute& a : node_.attributes) {
    if (a.name != name) continue;
    if (a.reference.empty()) return &a;
    check(frame_.caller != nullptr, "attribute {} refers to one of a function", name);
    if (const Attribute* given = frame_.caller->find(a.reference)) return given;
    for (const Attribute& missing : frame_.function->defaults) {
      if (missing.name == a.reference) return &missing;
    }
  }
  return nullptr;
}

std::int64_t NodeCall::integer(std::string_view name, std::int64_t missing) const {
  const Attribute* a = find(name);
  return a ? a->i : missing;
}

std::int64_t NodeCall::required_integer(std::string_view name) const {
  check(has_attribute(name), "attribute {} is missing", name);
  return find(name)->i;
}

double NodeCall::real(std::string_view name, double missing) const {
  const Attribute* a = find(name);
  return a ? static_cast<double>(a->f) : missing;
}

std::string_view NodeCall::text(std::string_view name, std::string_view missing) const {
  const Attribute* a = find(name);
  return a ? a->s : missing;
}

std::vector<std::int64_t> NodeCall::integers(std::string_view name) const {
  const Attribute* a = find(name);
  return a ? a->ints : std::vector<std::int64_t>();
}

std::vector<double> NodeCall::reals(std::string_view name) const {
  const Attribute* a = find(name);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>();
}

std::vector<std::string_view> NodeCall::texts(std::string_view name) const {
  const Attribute* a = find(name);
  return a ? a->strings : std::vector<std::string_view>();
}

Value NodeCall::constant(std::string_view name) const {
  const Attribute* a = find(name);
  check(a && (a->tensor || a->sparse_tensor), "attribute {} is no tensor", name);
  const void* key = a->tensor ? static_cast<const void*>(a->tensor.get()) : a->sparse_tensor.get();
  return interpreter_.program().constants.at(key);
}

const GraphProto& NodeCall::graph(std::string_view name) const {
  const Attribute* a = find(name);
  check(a && a->graph, "attribute {} is no graph", name);
  return *a->graph;
}

// ---- running ----------------------------------------------------------------------------------

std::vector<Value> NodeCall::run(const GraphProto& graph, std::vector<Value> inputs) const {
  return interpreter_.run(graph, std::move(inputs), &frame_, *frame_.opsets);
}

void NodeCall::settle(std::vector<Value>& values) const {
  std::vector<Tensor> large;
  for (Value& v : values) {
    if (!v.is_tensor()) continue;
    const Tensor& t = v.tensor();
    const auto known = is_integral(t.dtype()) ? peek_integers(t) : std::nullopt;
    if (known) {
      const Tensor same = Tensor::from_data(*known, t.shape(), {.dtype = t.dtype()});
      v = Value(same, v.element_type());
    } else {
      large.push_back(t);
    }
  }
  realize(large);
}

std::int64_t checked_axis(std::int64_t axis, std::int64_t rank) {
  check(axis >= -rank && axis < rank, "there is no axis {} in a tensor of {} axes", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace croze::onnx
