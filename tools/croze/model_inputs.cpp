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
    check(equals != text.npos, "--input {}: write NAME=FILE.npy or FILE.npz", text);
    add(text.substr(0, equals), load_npy(text.substr(equals + 1)));
  }
  return inputs;
}

namespace {

Shape shape_of(const onnx::Port& port, const std::map<std::string, std::int64_t>& sizes) {
  check(port.has_shape, "input \"{}\" may have any shape: zeros cannot take its place", port.name);
  std::vector<std::int64_t> shape;
  for (const onnx::Dimension& dim : port.shape) {
    const auto given = sizes.find(dim.name);
    check(dim.size >= 0 || given != sizes.end(),
          "input \"{}\" has an open size{}: give it with --size NAME=NUMBER", port.name,
          dim.name.empty() ? " without a name" : " \"" + dim.name + "\"");
    shape.push_back(dim.size >= 0 ? dim.size : given->second);
  }
  return Shape(shape);
}

}  // namespace

void add_zeros(const onnx::Model& model, const std::vector<std::string>& texts,
               ModelInputs& inputs) {
  const auto sizes = sizes_of(texts);
  for (const onnx::Port& port : model.inputs()) {
    if (port.has_default || port.is_optional || inputs.contains(port.name)) continue;
    const DType dtype = onnx::dtype_of(port.element);
    const Tensor zeros = Tensor::zeros(shape_of(port, sizes), {.dtype = dtype}).realize();
    inputs.emplace(port.name, onnx::Value(zeros, port.element));
  }
}

}  // namespace croze::tool
