// model_inputs.cpp -- arrays from files, and zeros in the place of data.
#include "model_inputs.h"

#include <croze/base/error.h>
#include <croze/io/npy.h>

#include <cstdint>
#include <utility>

#include "sizes.h"

namespace croze::tool {

ModelInputs inputs_from_files(const std::vector<std::string>& texts) {
  ModelInputs inputs;
  const auto add = [&](const std::string& name, onnx::Value value) {
    check(inputs.emplace(name, std::move(value)).second, "input \"{}\" is given twice", name);
  };
  for (const std::string& text : texts) {
    if (text.ends_with(".npz")) {
      for (const NamedTensor& t : load_npz(text)) add(t.name, t.tensor);
      continue;
    }
    // Names of inputs may hold an equals sign, paths of files seldom do.
    const std::size_t equals = text.rfind('=');
    check(equals != text.npos, "{}: write NAME=FILE.npy or FILE.npz", text);
    add(text.substr(0, equals), load_npy(text.substr(equals + 1)));
  }
  return inputs;
}

void add_zeros(const onnx::Model& model, const std::vector<std::string>& texts,
               ModelInputs& inputs) {
  const auto sizes = sizes_of(texts);
  onnx::check_size_names(model.inputs(), sizes);
  for (const onnx::Port& port : model.inputs()) {
    if (port.has_default || port.is_optional || inputs.contains(port.name)) continue;
    const DType dtype = onnx::dtype_of(port.element);
    const Tensor zeros = Tensor::zeros(onnx::shape_of(port, sizes), {.dtype = dtype}).realize();
    inputs.emplace(port.name, onnx::Value(zeros, port.element));
  }
}

}  // namespace croze::tool
