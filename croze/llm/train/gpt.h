// gpt.h -- a language model in the making: the network of the family "llama" (family.h), whose
// parameters are trained.  Its tensors have the names that GGUF files give them, so that what was
// trained is written as it is (model_file.h).
#pragma once

#include <cstdint>
#include <vector>

#include "croze/nn/layers.h"
#include "croze/nn/normalization.h"

namespace croze::llm {

struct GptShape {
  std::int64_t vocabulary = 1024;  // tokens
  std::int64_t context = 128;      // of a window
  std::int64_t width = 192;
  std::int64_t layers = 4;
  std::int64_t heads = 3;
  std::int64_t hidden = 0;  // width within perceptrons; 0: 8/3 of the width, rounded up to 64s

  static constexpr double epsilon = 1e-5;  // of norms
  static constexpr double rotary_base = 10000;

  // The same with `hidden` said.  Throws Error for sizes that are not positive or too large, unless
  // the heads divide the width into even parts.
  GptShape checked() const;
};

struct GptBlock {
  nn::RMSNorm attn_norm;
  nn::Linear attn_q, attn_k, attn_v, attn_output;
  nn::RMSNorm ffn_norm;
  nn::Linear ffn_gate, ffn_up, ffn_down;

  explicit GptBlock(const GptShape& shape);

  template <typename V>
  void visit(V&& v) const {
    v("attn_norm", attn_norm);
    v("attn_q", attn_q);
    v("attn_k", attn_k);
    v("attn_v", attn_v);
    v("attn_output", attn_output);
    v("ffn_norm", ffn_norm);
    v("ffn_gate", ffn_gate);
    v("ffn_up", ffn_up);
    v("ffn_down", ffn_down);
  }
};

class Gpt {
 public:
  // Begins with random weights.  Throws Error as GptShape::checked() does.
  explicit Gpt(const GptShape& shape);

  // Tokens (rows, n), n <= context, to the scores of the tokens that may follow each:
  // (rows, n, vocabulary).  In training a part of what is embedded, and of what each attention and
  // each perceptron adds to it, may be dropped.
  Tensor operator()(const Tensor& tokens, double dropped = 0) const;

  const GptShape& shape() const { return shape_; }

  template <typename V>
  void visit(V&& v) const {
    v("token_embd", embedding_);
    v("blk", blocks_);
    v("output_norm", norm_);
    v("output", output_);
  }

 private:
  Tensor attend(const GptBlock& block, const Tensor& x, std::int64_t n) const;
  Tensor turned(const Tensor& heads) const;

  GptShape shape_;
  nn::Embedding embedding_;
  std::vector<GptBlock> blocks_;
  nn::RMSNorm norm_;
  nn::Linear output_;
  Tensor cosines_, sines_;  // (context, elements of a head)
};

}  // namespace croze::llm
