// save.cpp -- writing of tensors as GGUF files, of types that are a dtype.
#include <vector>

#include "croze/base/error.h"
#include "croze/io/gguf/gguf.h"
#include "croze/io/gguf/writer.h"

namespace croze {
namespace {

std::vector<GgufTensorInfo> infos_of(const StateDict& tensors, const std::string& path) {
  std::vector<GgufTensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "saving {}: the tensor \"{}\" is not defined", path, name);
    const GgmlTypeInfo* type = ggml_type_of(tensor.dtype());
    check(type != nullptr,
          "saving {}: the tensor \"{}\" is {}, which GGUF does not have: cast it before", path,
          name, name_of(tensor.dtype()));
    infos.push_back({name, tensor.shape(), type->type});
  }
  return infos;
}

}  // namespace

void save_gguf(const std::string& path, const StateDict& tensors,
               const GgufMetadata::Map& metadata) {
  std::vector<GgufNamedValue> values;
  for (const auto& [name, value] : metadata) {
    if (!name.starts_with("split.")) values.emplace_back(name, value);
  }
  GgufWriter writer(path, values, infos_of(tensors, path));
  std::vector<Tensor> computed;
  for (const NamedTensor& t : tensors) computed.push_back(t.tensor);
  realize(computed);
  for (const Tensor& t : computed) writer.write(t.to_bytes());
  writer.commit();
}

}  // namespace croze
