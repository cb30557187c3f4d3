// gguf_patterns.h -- what the name in tokenizer.ggml.pre means.
#pragma once

#include <span>
#include <string_view>

namespace croze::llm {

struct GgufPreTokenizer {
  std::string_view name;
  std::span<const char* const> patterns;  // cut the text one after another
  bool whole_words = false;               // a word that is a token is not merged
  bool adds_bos = false;                  // if the file does not say
};

// Null for a name that is not known.
const GgufPreTokenizer* gguf_pre_tokenizer(std::string_view name);

}  // namespace croze::llm
