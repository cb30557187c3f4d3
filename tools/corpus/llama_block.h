// llama_block.h -- one block of a Llama: causal attention whose keys and values serve several heads
// each, over positions that are rotated, and a gated perceptron, each behind a root-mean-square
// norm and beside a residual connection.  Its parameters are placeholders.
#pragma once

#include "corpus/data.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"

namespace croze::corpus {

struct LlamaBlock {
  std::int64_t heads, key_heads, head_width;
  Tensor attention_norm, mlp_norm;
  Tensor query, key, value, output;
  Tensor gate, up, down;

  LlamaBlock(std::int64_t width, std::int64_t head_count, std::int64_t key_head_count)
      : heads(head_count),
        key_heads(key_head_count),
        head_width(width / head_count),
        attention_norm(placeholder({width})),
        mlp_norm(placeholder({width})),
        query(placeholder({width, width})),
        key(placeholder({key_heads * head_width, width})),
        value(placeholder({key_heads * head_width, width})),
        output(placeholder({width, width})),
        gate(placeholder({3 * width, width})),
        up(placeholder({3 * width, width})),
        down(placeholder({width, 3 * width})) {}

  // x is (batch, tokens, width), the angles' cosines and sines (tokens, width of a head).
  Tensor operator()(const Tensor& x, const Tensor& cosines, const Tensor& sines) const {
    const Tensor normed = rms_norm(x, 1, attention_norm);
    const Tensor q = rotated(by_head(linear(normed, query), heads), cosines, sines);
    const Tensor k = rotated(by_head(linear(normed, key), key_heads), cosines, sines);
    const Tensor v = by_head(linear(normed, value), key_heads);
    const Tensor mixed =
        scaled_dot_product_attention(q, for_all_heads(k), for_all_heads(v), {.causal = true});
    const Tensor attended = x + linear(reshape(transpose(mixed, 1, 2), x.shape()), output);
    const Tensor inner = rms_norm(attended, 1, mlp_norm);
    return attended + linear(silu(linear(inner, gate)) * linear(inner, up), down);
  }

 private:
  // (batch, heads, tokens, width of a head)
  Tensor by_head(const Tensor& t, std::int64_t count) const {
    return transpose(reshape(t, {t.size(0), t.size(1), count, head_width}), 1, 2);
  }
  Tensor for_all_heads(const Tensor& t) const {
    const std::int64_t each = heads / key_heads;
    const Tensor apart = unsqueeze(t, 2);
    return reshape(expand(apart, {t.size(0), key_heads, each, t.size(2), head_width}),
                   {t.size(0), heads, t.size(2), head_width});
  }
  Tensor rotated(const Tensor& t, const Tensor& cosines, const Tensor& sines) const {
    const std::int64_t half = head_width / 2;
    const Tensor turned = cat({-narrow(t, 3, half, half), narrow(t, 3, 0, half)}, 3);
    return t * cosines + turned * sines;
  }
};

}  // namespace croze::corpus
