// parts.h -- what a tokenizer is made of.  The readers of files fill it in.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/added_tokens.h"
#include "croze/llm/tokenizer/decoder.h"
#include "croze/llm/tokenizer/model.h"
#include "croze/llm/tokenizer/normalizer.h"
#include "croze/llm/tokenizer/pre_tokenizer.h"

namespace croze {
class GgufMetadata;
}

namespace croze::llm {

struct TokenizerParts {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<Model> model;
  std::vector<AddedToken> added;
  std::vector<TokenId> before, behind;  // what is added to a text
  Decoder decoder;
  std::vector<TokenId> unused;  // tokens that stand for nothing
  SpecialTokens special;
};

// Reads a tokenizer.json of Hugging Face; `path` is what messages call it.
TokenizerParts parts_from_json(std::string_view text, const std::string& path);

// Takes from a tokenizer_config.json which tokens are for what.
void read_special_tokens(std::string_view text, const std::string& path, TokenizerParts& parts);

// From the metadata of a GGUF file.
TokenizerParts parts_from_gguf(const GgufMetadata& metadata);

// Fills in what is not known: tokens of well-known names among the special ones.
void find_special_tokens(TokenizerParts& parts);

}  // namespace croze::llm
