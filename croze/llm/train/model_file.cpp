// model_file.cpp -- the metadata of the family "llama", and the tensors of the network.
#include "croze/llm/train/model_file.h"

namespace croze::llm {

GgufFile model_file(const Gpt& network, const BytePairs& vocabulary, const std::string& name) {
  const GptShape& s = network.shape();
  const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  GgufMetadata::Map metadata = vocabulary.metadata();
  metadata.merge(
      GgufMetadata::Map{{"general.architecture", std::string("llama")},
                        {"general.name", name},
                        {"llama.vocab_size", size(s.vocabulary)},
                        {"llama.context_length", size(s.context)},
                        {"llama.embedding_length", size(s.width)},
                        {"llama.block_count", size(s.layers)},
                        {"llama.feed_forward_length", size(s.hidden)},
                        {"llama.attention.head_count", size(s.heads)},
                        {"llama.attention.head_count_kv", size(s.heads)},
                        {"llama.attention.layer_norm_rms_epsilon", static_cast<float>(s.epsilon)},
                        {"llama.rope.dimension_count", size(s.width / s.heads)},
                        {"llama.rope.freq_base", static_cast<float>(s.rotary_base)}});
  GgufFile file{.version = 3, .metadata = GgufMetadata(name, std::move(metadata)), .tensors = {}};
  for (const auto& [tensor_name, tensor] : nn::state_dict(network)) {
    file.tensors.push_back(
        {.name = tensor_name, .shape = tensor.shape(), .type = GgmlType::F32, .stored = tensor});
  }
  return file;
}

void save_model(const std::string& path, const GgufFile& model) {
  StateDict tensors;
  for (const GgufTensor& t : model.tensors) tensors.push_back({t.name, t.stored});
  save_gguf(path, tensors, model.metadata.values());
}

}  // namespace croze::llm
