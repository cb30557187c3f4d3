// captured.cpp -- the run of a model, traced over zeros.
#include "croze/io/onnx/captured.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/io/onnx/open_inputs.h"
#include "croze/tensor/registry.h"

namespace croze {
namespace {

using onnx::Port;

// A run of the model over lists of tensors.
struct ModelRun {
  const onnx::Model& model;
  std::vector<Port> inputs;
  std::map<std::string, onnx::Value> constants;

  std::vector<Tensor> operator()(std::span<const Tensor> tensors) const {
    // What follows from constants and weights alone may decide about shapes and branches.
    const Capturing recording(Capturing::Computes::Constants, tensors);
    std::map<std::string, onnx::Value> given = constants;
    for (std::size_t i = 0; i < inputs.size(); i++) {
      given.emplace(inputs[i].name, onnx::Value(tensors[i], inputs[i].element));
    }
    const auto outputs = model.run(given);
    std::vector<Tensor> results;
    for (const Port& port : model.outputs()) {
      const onnx::Value& value = outputs.at(port.name);
      check(value.is_tensor(), "output \"{}\" is no tensor, but {}: it cannot be captured",
            port.name, onnx::describe(value));
      results.push_back(value.tensor());
    }
    return results;
  }

  static std::vector<Tensor> call(void* context, std::span<const Tensor> tensors) {
    return (*static_cast<const ModelRun*>(context))(tensors);
  }
};

// ---- sizes that stay open ---------------------------------------------------------------------

// Two show what depends on a size, the third that this is so.
constexpr int calls_at_open_sizes = 3;

using Sizes = std::map<std::string, std::int64_t>;

// The sizes of each call: small, and different from all others, so that none is taken for another:
// not of those either that models have, such as the two states of an LSTM.  One element is not like
// several: it is broadcast.
constexpr std::int64_t least_of_calls = 5;

std::vector<Sizes> sizes_of_calls(const OnnxInputs& known) {
  if (known.open.empty()) return {known.sizes};
  std::vector<Sizes> calls(calls_at_open_sizes, known.sizes);
  std::set<std::int64_t> used;
  for (const auto& [name, size] : known.sizes) used.insert(size);
  for (Sizes& sizes : calls) {
    for (const Dim& d : known.open) {
      const std::int64_t multiple = d.multiple(), most = d.most() / multiple * multiple;
      const bool has_room = most >= multiple * (least_of_calls + calls_at_open_sizes);
      const std::int64_t least = std::max(d.least(), has_room ? multiple * least_of_calls : 2);
      std::int64_t size = (least + multiple - 1) / multiple * multiple;
      while (used.contains(size)) size += multiple;
      size = std::min(size, most);
      used.insert(size);
      for (const std::string& name : onnx::tied_names(d.name())) sizes[name] = size;
    }
  }
  return calls;
}

void open_axes(Step& step, const std::vector<Port>& inputs, const Dim& d, const std::string& name) {
  bool found = false;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    for (std::size_t axis = 0; axis < inputs[i].shape.size(); axis++) {
      const bool is_open = inputs[i].shape[axis].size < 0;
      if (!is_open || onnx::size_name(inputs[i], axis) != name) continue;
      found = true;
      step.open(fmt::format("input {}", i), static_cast<std::int64_t>(axis), d);
    }
  }
  check(found, "no input of the model leaves a size \"{}\" open", name);
}

void open_axes(Step& step, const std::vector<Port>& inputs, const std::vector<Dim>& open) {
  for (const Dim& d : open) {
    for (const std::string& name : onnx::tied_names(d.name())) open_axes(step, inputs, d, name);
  }
}

}  // namespace

CapturedModel capture_model(const onnx::Model& model, const OnnxInputs& known, Location at) {
  const CallScope scope("capture_model", at);
  ModelRun run{model, {}, {}};
  CapturedModel captured;
  onnx::check_size_names(model.inputs(), known.sizes);
  for (const auto& [name, value] : known.constants) {
    run.constants.emplace(name, Tensor(value).realize());
  }
  for (const Port& port : model.inputs()) {
    if (port.has_default || port.is_optional || known.constants.contains(port.name)) continue;
    run.inputs.push_back(port);
    captured.inputs.push_back(port.name);
  }
  for (const Port& port : model.outputs()) captured.outputs.push_back(port.name);
  open_axes(captured.step, run.inputs, known.open);
  for (const Sizes& sizes : sizes_of_calls(known)) {
    std::vector<Tensor> inputs;
    for (const Port& port : run.inputs) {
      const DType dtype = onnx::dtype_of(port.element);
      inputs.push_back(Tensor::zeros(onnx::shape_of(port, sizes), {.dtype = dtype}).realize());
    }
    captured.step.run(inputs, Signature::of(inputs), {&ModelRun::call, &run}, at);
  }
  return captured;
}

}  // namespace croze
