// transformer.h -- a language model from a GGUF file: tokens to the scores of the next one, or to
// the vectors of an encoder.
//
//     GgufFile file = load_gguf("model.gguf");
//     llm::Transformer model(file);
//     llm::KeyValueCache cache(model.config(), {.capacity = 256});
//     Tensor hidden = model(tokens, start, cache, 256);
//     Tensor scores = model.logits(hidden);
//
// All families are one definition, transformer.cpp.  Weights stay in the mapped file, in the type
// that they have there.  generator.h is what generates texts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "croze/io/gguf/gguf.h"
#include "croze/llm/model/cache.h"
#include "croze/llm/model/config.h"
#include "croze/llm/model/rotary.h"
#include "croze/llm/model/weights.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

// Where the tokens of one call stand: b sequences that read n tokens each.  A cache can hold the
// pages of many, in any order.
struct Placement {
  Tensor starts;          // (b) integers: the place of the first token in its text
  Tensor stored;          // (b * n) integers: where in the cache the keys and values go
  Tensor pages;           // (b, pages) integers: where the pages of each text are in the cache
  std::int64_t page = 0;  // tokens of a page
};

struct ModelOptions {
  std::int64_t context = 0;  // tokens
  ActivationType activations = ActivationType::Float32;
};

class Transformer {
 public:
  // Throws Error for metadata that read_config() refuses, and naming the tensor if a weight is
  // missing, of another shape than the metadata say, no float, or of no use here.  Models with two
  // forms, for short texts and for long ones, take that for texts of `context` tokens, as
  // Config::context_for() has it.
  explicit Transformer(const GgufFile& file, const ModelOptions& options = {});

  const Config& config() const { return config_; }
  // How many tokens there are scores for.
  std::int64_t vocabulary() const { return weights_.embedding.weight.shape[0]; }

  // Bytes of weights that one token reads.
  std::int64_t bytes_per_token() const { return weights_.bytes_per_token; }

  // Reads tokens, (n) integers, of which the first stands at the place `start`, one integer, and
  // those before it are in the cache; theirs go there.  They look at the first `keys` places of the
  // cache, so start + n must not be more.  (n, width).
  Tensor operator()(const Tensor& tokens, const Tensor& start, KeyValueCache& cache,
                    std::int64_t keys) const;
  // The same for tokens (b, n) of several sequences, each of which looks at the pages that it names
  // and at no place behind its own.  (b * n, width).
  Tensor operator()(const Tensor& tokens, const Placement& placement, KeyValueCache& cache) const;
  // Texts as a whole, without a cache: tokens (b, n), of which in each row so many as `lengths`,
  // (b) integers, are its text.  (b * n, width).  It is what encoders are for, but any model can.
  Tensor encode(const Tensor& tokens, const Tensor& lengths) const;
  // (n, width) to the scores of the tokens that may follow each: (n, vocabulary) Float32.
  Tensor logits(const Tensor& hidden) const;

 private:
  // What all layers know of the tokens of one call, n of each of b sequences.
  struct Tokens {
    std::int64_t sequences = 1, count = 1, keys = 0;
    bool is_batch = false;          // whether there is an axis b
    Tensor places;                  // (b * n)
    Tensor stored;                  // (b * n): where in the cache
    Tensor pages;                   // undefined: the first places of the cache
    Turn turn, local_turn;          // of layers without and with a window
    Tensor visible, local_visible;  // ([b,] 1, 1, n, keys): whether a token looks at a place

    Shape of_each(Shape shape) const;
    // Where there is a cache, they go there first.
    Tensor seen(const Tensor& own, CachedRows* cached) const;
  };

  // (b * n, heads, elements).
  struct Heads {
    Tensor queries, keys, values;
  };

  void place(Tokens& tokens, const Tensor& starts) const;
  Tensor read(const Tensor& tokens, const Tokens& all, KeyValueCache* cache) const;
  Heads project(const AttentionLayer& layer, const Tensor& x, const Tokens& tokens) const;
  Tensor attend(const AttentionLayer& layer, const Tensor& x, const Tokens& tokens,
                KeyValueCache::Layer* cache) const;

  Config config_;
  Weights weights_;
  std::optional<Rotary> rotary_, local_rotary_;
};

}  // namespace croze::llm
