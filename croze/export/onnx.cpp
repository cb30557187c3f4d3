// onnx.cpp -- a model of ONNX as a captured step.
#include "croze/export/onnx.h"

#include <vector>

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
      check(value.is_tensor(), "output \"{}\" is no tensor, but {}: it cannot be exported",
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

CExportSummary export_c(const onnx::Model& model, const OnnxInputs& known,
                        const std::string& folder, CExportOptions options, Location at) {
  const CallScope scope("export_c", at);
  ModelRun run{model, {}, {}};
  std::vector<Tensor> inputs;
  for (const auto& [name, value] : known.constants) {
    run.constants.emplace(name, Tensor(value).realize());
  }
  options.inputs.clear();
  options.outputs.clear();
  for (const Port& port : model.inputs()) {
    if (port.has_default || port.is_optional || known.constants.contains(port.name)) continue;
    const DType dtype = onnx::dtype_of(port.element);
    inputs.push_back(Tensor::zeros(onnx::shape_of(port, known.sizes), {.dtype = dtype}).realize());
    run.inputs.push_back(port);
    options.inputs.push_back(port.name);
  }
  for (const Port& port : model.outputs()) options.outputs.push_back(port.name);
  Step step;
  step.run(inputs, Signature::of(inputs), {&ModelRun::call, &run}, at);
  return export_c(step, folder, options, at);
}

}  // namespace croze
