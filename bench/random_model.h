// random_model.h -- a language model of the size of a real one, whose weights say nothing.
//
// How fast weights are read does not depend on what they are.
#pragma once

#include <string>

#include "croze/io/gguf/ggml_type.h"

namespace croze::bench {

// Writes a GGUF file of the shape of Llama 3.2 1B: matrices of blocks of `type`, which
// encode_blocks() must know, norms of ones, and tokens that are numbers.  Throws Error if writing
// fails.
void save_random_llama(const std::string& path, GgmlType type);

}  // namespace croze::bench
