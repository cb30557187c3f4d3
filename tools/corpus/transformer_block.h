// transformer_block.h -- one block of a transformer: causal attention and a two-layer perceptron,
// each behind a layer norm and beside a residual connection.  Its parameters are placeholders:
// unlike the layers of nn/, it computes no starting values, so that nothing but its own graph is
// compiled.
#pragma once

#include "corpus/data.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"

namespace croze::corpus {

struct BlockLinear {
  Tensor weight, bias;

  BlockLinear(std::int64_t in, std::int64_t out)
      : weight(placeholder({out, in})), bias(placeholder({out})) {}
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct BlockNorm {
  Tensor weight, bias;

  explicit BlockNorm(std::int64_t width)
      : weight(placeholder({width})), bias(placeholder({width})) {}
  Tensor operator()(const Tensor& x) const { return layer_norm(x, 1, weight, bias); }

  template <typename V>
  void visit(V&& v) const {
    v("weight", weight);
    v("bias", bias);
  }
};

struct TransformerBlock {
  std::int64_t heads;
  BlockNorm attention_norm;
  BlockLinear query, key, value, output;
  BlockNorm mlp_norm;
  BlockLinear up, down;

  explicit TransformerBlock(std::int64_t width, std::int64_t head_count = 4)
      : heads(head_count),
        attention_norm(width),
        query(width, width),
        key(width, width),
        value(width, width),
        output(width, width),
        mlp_norm(width),
        up(width, 4 * width),
        down(4 * width, width) {}

  // x is (batch, sequence, width).
  Tensor operator()(const Tensor& x) const {
    const Tensor attended = x + output(attention(attention_norm(x)));
    return attended + down(gelu(up(mlp_norm(attended)), Gelu::Tanh));
  }

  template <typename V>
  void visit(V&& v) const {
    v("attention_norm", attention_norm);
    v("query", query);
    v("key", key);
    v("value", value);
    v("output", output);
    v("mlp_norm", mlp_norm);
    v("up", up);
    v("down", down);
  }

 private:
  Tensor attention(const Tensor& x) const {
    const auto by_head = [&](const Tensor& t) {  // (batch, heads, sequence, width / heads)
      return transpose(reshape(t, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
    };
    const Tensor mixed = scaled_dot_product_attention(by_head(query(x)), by_head(key(x)),
                                                      by_head(value(x)), {.causal = true});
    return reshape(transpose(mixed, 1, 2), x.shape());
  }
};

}  // namespace croze::corpus
