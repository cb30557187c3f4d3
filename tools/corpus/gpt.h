// gpt.h -- a small GPT: embeddings of tokens and places, blocks, and scores of the next token.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/transformer_block.h"
#include "croze/tensor/movement/indexing.h"

namespace croze::corpus {

struct Gpt {
  static constexpr std::int64_t vocabulary = 256, sequence = 64, width = 128, layers = 4;

  Tensor token_embedding = placeholder({vocabulary, width});
  Tensor place_embedding = placeholder({sequence, width});
  std::vector<TransformerBlock> blocks;
  BlockNorm norm{width};
  BlockLinear head{width, vocabulary};

  Gpt() {
    for (std::int64_t i = 0; i < layers; i++) blocks.emplace_back(width);
  }

  // Tokens (batch, sequence) to scores (batch, sequence, vocabulary).
  Tensor operator()(const Tensor& tokens) const {
    Tensor x = embedding(token_embedding, tokens) + place_embedding;
    for (const TransformerBlock& block : blocks) x = block(x);
    return head(norm(x));
  }

  template <typename V>
  void visit(V&& v) const {
    v("token_embedding", token_embedding);
    v("place_embedding", place_embedding);
    v("blocks", blocks);
    v("norm", norm);
    v("head", head);
  }
};

}  // namespace croze::corpus
