// model_file.h -- a network that is being trained, as the model that croze chat, croze serve and
// llama.cpp load.
#pragma once

#include <string>

#include "croze/io/gguf/gguf.h"
#include "croze/llm/train/byte_pairs.h"
#include "croze/llm/train/gpt.h"

namespace croze::llm {

// The model in memory, as load_gguf would give it: save_gguf() writes its tensors and metadata. Its
// tensors are those of the network, so a Transformer of them computes with what was learned since.
GgufFile model_file(const Gpt& network, const BytePairs& vocabulary, const std::string& name);

// Writes it.
void save_model(const std::string& path, const GgufFile& model);

}  // namespace croze::llm
