// load.cpp -- tokenizers from files, and the tokens that are known by their names.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/io/gguf/header.h"
#include "croze/llm/tokenizer/parts.h"
#include "croze/llm/tokenizer/tokenizer.h"

namespace croze::llm {
namespace {

// The names that families of models give these tokens.
constexpr std::array<std::string_view, 7> bos_names = {
    "<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "[CLS]", "<|endoftext|>", "[BOS]"};
constexpr std::array<std::string_view, 10> eos_names = {
    "</s>",          "<eos>", "<|end_of_text|>",
    "<|im_end|>",    "[SEP]", "<|eot_id|>",
    "<|endoftext|>", "[EOS]", "<|end\u2581of\u2581sentence|>",
    "<end_of_turn>"};
constexpr std::array<std::string_view, 6> eot_names = {"<|eot_id|>", "<|im_end|>", "<end_of_turn>",
                                                       "<|end|>",    "<|eot|>",    "<|endofturn|>"};
constexpr std::array<std::string_view, 4> pad_names = {"<pad>", "[PAD]",
                                                       "<|finetune_right_pad_id|>", "<|pad|>"};

template <std::size_t count>
void find_by_name(const TokenizerParts& parts, const std::array<std::string_view, count>& names,
                  TokenId& id) {
  for (std::size_t i = 0; i < count && id == no_token; i++) {
    for (const AddedToken& token : parts.added) {
      if (token.special && token.text == names[i]) id = token.id;
    }
  }
}

}  // namespace

void find_special_tokens(TokenizerParts& parts) {
  find_by_name(parts, bos_names, parts.special.bos);
  find_by_name(parts, eos_names, parts.special.eos);
  find_by_name(parts, eot_names, parts.special.eot);
  find_by_name(parts, pad_names, parts.special.pad);
  if (parts.special.unknown == no_token) parts.special.unknown = parts.model->unknown();
}

Tokenizer Tokenizer::from_json(std::string_view text, const std::string& path) {
  TokenizerParts parts = parts_from_json(text, path);
  find_special_tokens(parts);
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_gguf(const GgufMetadata& metadata) {
  TokenizerParts parts = parts_from_gguf(metadata);
  find_special_tokens(parts);
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::load(const std::string& path) {
  const MappedFile file(path);
  if (as_text(file.data()).starts_with("GGUF")) {
    return from_gguf(read_gguf_header(file.data(), path).metadata);
  }
  TokenizerParts parts = parts_from_json(as_text(file.data()), path);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string config = folder + "tokenizer_config.json";
  struct stat status {};
  if (stat(config.c_str(), &status) == 0) {
    const MappedFile config_file(config);
    read_special_tokens(as_text(config_file.data()), config, parts);
  }
  find_special_tokens(parts);
  return Tokenizer(std::move(parts));
}

}  // namespace croze::llm
