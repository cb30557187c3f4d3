// gpt2.h -- GPT-2 of 124M parameters (Radford et al., 2019), with so many layers as are asked for.
// The scores are products with the embeddings of tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/transformer_block.h"
#include "croze/tensor/movement/indexing.h"

namespace croze::corpus {

struct Gpt2 {
  static constexpr std::int64_t vocabulary = 50257, context = 1024, width = 768, heads = 12;

  Tensor token_embedding = placeholder({vocabulary, width});
  Tensor place_embedding = placeholder({context, width});
  std::vector<TransformerBlock> blocks;
  BlockNorm norm{width};

  explicit Gpt2(std::int64_t layers = 12) {
    for (std::int64_t i = 0; i < layers; i++) blocks.emplace_back(width, heads);
  }

  // Tokens (batch, length) to scores (batch, length, vocabulary).
  Tensor operator()(const Tensor& tokens) const {
    Tensor x = embedding(token_embedding, tokens) + narrow(place_embedding, 0, 0, tokens.size(1));
    for (const TransformerBlock& block : blocks) x = block(x);
    return linear(norm(x), token_embedding);
  }

  template <typename V>
  void visit(V&& v) const {
    v("token_embedding", token_embedding);
    v("place_embedding", place_embedding);
    v("blocks", blocks);
    v("norm", norm);
  }
};

}  // namespace croze::corpus
