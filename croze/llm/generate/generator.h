// generator.h -- a model that reads tokens and tells the scores of the next one.
//
//     llm::Generator generator(model, {.context = 2048});
//     std::span<const float> scores = generator.read(tokenizer.encode("Once upon a time"));
//
// What was read stays in a cache of keys and values, so the next call costs the new tokens alone.
// Prompts are read in chunks and answers token by token, each by a captured step that is traced
// once; the place of a token is a number that changes from call to call.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/llm/model/transformer.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

struct GeneratorOptions {
  std::int64_t context = 0;  // tokens that can be read, as Config::context_for() has it
  CacheType cache_type = CacheType::Float16;
};

class Generator {
 public:
  // The model must outlive it.  Throws Error for a context that is longer than the model's.
  explicit Generator(const Transformer& model, const GeneratorOptions& options = {});
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Reads tokens behind those that were read before.  The scores of the next one; they are valid
  // until the next call.  Throws Error, and reads nothing, if there are no tokens, if one is none
  // of the model's, or if they do not fit the context.
  std::span<const float> read(std::span<const TokenId> tokens);
  // The same for at most `most_of_each` tokens, by one step: the scores behind each of them, one
  // after the other.
  std::span<const float> read_each(std::span<const TokenId> tokens);
  static constexpr std::int64_t most_of_each = 16;
  // Reads a text from its beginning.  What it has in common with what was read is kept.  `goes_on`
  // is asked before each chunk: when it says no, what was read stays and there are no scores.
  std::span<const float> read_from_start(std::span<const TokenId> text,
                                         const std::function<bool()>& goes_on = {});
  // How many tokens such a call would keep.
  std::int64_t common_length(std::span<const TokenId> text) const;
  // Forgets all tokens but the first `length`.
  void truncate(std::int64_t length);

  // What was read.
  const std::vector<TokenId>& tokens() const { return tokens_; }
  std::int64_t context() const { return context_; }
  // How many more tokens can be read.
  std::int64_t room() const { return context_ - std::ssize(tokens_); }
  std::int64_t cache_bytes() const { return cache_.bytes; }
  // Launches of one token, as many as there are in the cache; 0 before one was read.
  std::int64_t kernels_per_token() const;

 private:
  struct Step {
    const Transformer* model;
    KeyValueCache* cache;
    std::int64_t keys;

    // The scores behind some of these tokens, `wanted` integers.
    Tensor operator()(const Tensor& tokens, const Tensor& start, const Tensor& wanted) const;
  };
  // What a step is made for.
  struct Size {
    std::int64_t rows, keys;
    bool of_each;  // the scores behind each row are wanted, and not those behind one

    auto operator<=>(const Size&) const = default;
  };

  void check_tokens(std::span<const TokenId> tokens) const;
  void check_room(std::span<const TokenId> tokens) const;
  void read_chunk(std::span<const TokenId> tokens, std::int64_t rows, bool of_each);
  Captured<Step>& step_for(std::int64_t rows, std::int64_t end, bool of_each);

  const Transformer& model_;
  std::int64_t context_;
  KeyValueCache cache_;
  std::vector<TokenId> tokens_;
  Elements<float> scores_;
  std::map<Size, Captured<Step>> steps_;
};

}  // namespace croze::llm
