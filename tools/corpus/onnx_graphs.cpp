// onnx_graphs.cpp -- models of people's own, as graphs of the corpus.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "corpus/data.h"
#include "corpus/graphs.h"
#include "croze/io/onnx/model.h"

namespace croze::corpus {
namespace {

std::optional<Shape> fixed_shape(const onnx::Port& port) {
  if (!port.has_shape) return {};
  std::vector<std::int64_t> sizes;
  for (const onnx::Dimension& dim : port.shape) {
    if (dim.size < 0) return {};
    sizes.push_back(dim.size);
  }
  return Shape(sizes);
}

bool has_fixed_shapes(const onnx::Model& model) {
  return std::ranges::all_of(model.inputs(), [](const onnx::Port& port) {
    return port.has_default || (port.type == "float32" && fixed_shape(port));
  });
}

Computation run_of(const std::shared_ptr<const onnx::Model>& model) {
  std::map<std::string, onnx::Value> inputs;
  for (const onnx::Port& port : model->inputs()) {
    if (port.has_default) continue;
    const Shape shape = *fixed_shape(port);
    inputs.emplace(port.name, Tensor::from_data(random_numbers(shape, 1), shape));
  }
  return [=] {
    std::vector<Tensor> results;
    for (const auto& [name, value] : model->run(inputs)) results.push_back(value.tensor());
    return results;
  };
}

}  // namespace

std::vector<CorpusGraph> onnx_graphs(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<CorpusGraph> list;
  for (const std::filesystem::path& file : files) {
    const std::string path = file.string();
    if (!has_fixed_shapes(onnx::Model(path))) continue;
    list.push_back({.name = "onnx_" + file.stem().string(),
                    .prepare = [path] { return run_of(std::make_shared<onnx::Model>(path)); },
                    .reads_data = true});
  }
  return list;
}

}  // namespace croze::corpus
