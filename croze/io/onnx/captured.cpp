// captured.cpp -- the run of a model, traced over zeros.
#include "croze/io/onnx/captured.h"

#include <span>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
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

}  // namespace

CapturedModel capture_model(const onnx::Model& model, const OnnxInputs& known, Location at) {
  const CallScope scope("capture_model", at);
  ModelRun run{model, {}, {}};
  CapturedModel captured;
  std::vector<Tensor> inputs;
  for (const auto& [name, value] : known.constants) {
    run.constants.emplace(name, Tensor(value).realize());
  }
  for (const Port& port : model.inputs()) {
    if (port.has_default || port.is_optional || known.constants.contains(port.name)) continue;
    const DType dtype = onnx::dtype_of(port.element);
    inputs.push_back(Tensor::zeros(onnx::shape_of(port, known.sizes), {.dtype = dtype}).realize());
    run.inputs.push_back(port);
    captured.inputs.push_back(port.name);
  }
  for (const Port& port : model.outputs()) captured.outputs.push_back(port.name);
  captured.step.run(inputs, Signature::of(inputs), {&ModelRun::call, &run}, at);
  return captured;
}

}  // namespace croze
