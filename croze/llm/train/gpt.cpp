// gpt.cpp -- the network, over whole windows and without a cache.
#include "croze/llm/train/gpt.h"

#include <cmath>

#include "croze/base/error.h"
#include "croze/llm/model/rotary.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/print.h"
#include "croze/tensor/random/random.h"

namespace croze::llm {
namespace {

nn::RMSNorm norm_of(const GptShape& s) { return nn::RMSNorm({s.width}, {.epsilon = s.epsilon}); }

nn::Linear linear_of(std::int64_t in, std::int64_t out, double deviation) {
  nn::Linear layer(in, out, {.bias = false});
  layer.weight = (Tensor::randn({out, in}) * deviation).realize();
  return layer;
}

// Of products whose results are as large as what goes in.
double deviation(std::int64_t in) { return 1 / std::sqrt(static_cast<double>(in)); }

// Of the two products of a block that are added to its input: all blocks together add about as much
// as there is.
double added_deviation(std::int64_t in, const GptShape& s) {
  return deviation(in) / std::sqrt(2 * static_cast<double>(s.layers));
}

}  // namespace

GptShape GptShape::checked() const {
  constexpr std::int64_t most = 65536;
  GptShape s = *this;
  if (s.hidden == 0) s.hidden = (8 * s.width / 3 + 63) / 64 * 64;
  for (const auto& [name, size] : {std::pair("vocabulary", s.vocabulary),
                                   {"context", s.context},
                                   {"width", s.width},
                                   {"hidden width", s.hidden},
                                   {"number of layers", s.layers},
                                   {"number of heads", s.heads}}) {
    check(size >= 1 && size <= most, "a {} of {}: from 1 to {}", name, size, most);
  }
  check(s.width % (2 * s.heads) == 0, "{} heads do not divide a width of {} into even parts",
        s.heads, s.width);
  return s;
}

GptBlock::GptBlock(const GptShape& s)
    : attn_norm(norm_of(s)),
      attn_q(linear_of(s.width, s.width, deviation(s.width))),
      attn_k(linear_of(s.width, s.width, deviation(s.width))),
      attn_v(linear_of(s.width, s.width, deviation(s.width))),
      attn_output(linear_of(s.width, s.width, added_deviation(s.width, s))),
      ffn_norm(norm_of(s)),
      ffn_gate(linear_of(s.width, s.hidden, deviation(s.width))),
      ffn_up(linear_of(s.width, s.hidden, deviation(s.width))),
      ffn_down(linear_of(s.hidden, s.width, added_deviation(s.hidden, s))) {}

Gpt::Gpt(const GptShape& shape)
    : shape_(shape.checked()),
      embedding_(shape_.vocabulary, shape_.width),
      norm_(norm_of(shape_)),
      // Nothing is likelier than anything else at first.
      output_(linear_of(shape_.width, shape_.vocabulary, 0.1 * deviation(shape_.width))) {
  for (std::int64_t i = 0; i < shape_.layers; i++) blocks_.emplace_back(shape_);
  const std::int64_t elements = shape_.width / shape_.heads;
  const std::vector<double> frequencies =
      rotary_frequencies({.width = elements, .base = shape_.rotary_base}, {});
  std::vector<double> cosines, sines;
  for (std::int64_t place = 0; place < shape_.context; place++) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(place) * frequency;
      cosines.insert(cosines.end(), {std::cos(angle), std::cos(angle)});
      sines.insert(sines.end(), {-std::sin(angle), std::sin(angle)});
    }
  }
  const Shape table{shape_.context, elements};
  cosines_ = Tensor::from_data(cosines, table, {.dtype = DType::Float32}).realize();
  sines_ = Tensor::from_data(sines, table, {.dtype = DType::Float32}).realize();
}

// Elements 2i and 2i + 1 of a head turn together: (a, b) to (a cos - b sin, b cos + a sin).
Tensor Gpt::turned(const Tensor& heads) const {  // (rows, heads, n, elements)
  const std::int64_t n = heads.size(2), elements = heads.size(3);
  const Tensor swapped = heads.reshape({heads.size(0), heads.size(1), n, elements / 2, 2})
                             .flip({-1})
                             .reshape(heads.shape());
  return heads * cosines_.narrow(0, 0, n) + swapped * sines_.narrow(0, 0, n);
}

// x is (rows * n, width), as all of the network but its attention.
Tensor Gpt::attend(const GptBlock& block, const Tensor& x, std::int64_t n) const {
  const auto in_heads = [&](const Tensor& t) {  // (rows, heads, n, elements)
    return t.reshape({-1, n, shape_.heads, shape_.width / shape_.heads}).transpose(1, 2);
  };
  const Tensor mixed = scaled_dot_product_attention(turned(in_heads(block.attn_q(x))),
                                                    turned(in_heads(block.attn_k(x))),
                                                    in_heads(block.attn_v(x)), {.causal = true});
  return block.attn_output(mixed.transpose(1, 2).reshape(x.shape()));
}

Tensor Gpt::operator()(const Tensor& tokens, double dropped) const {
  check(tokens.ndim() == 2 && tokens.size(1) <= shape_.context,
        "a network with a context of {} was given tokens of shape {}", shape_.context,
        tokens.shape());
  const std::int64_t n = tokens.size(1);
  const auto kept = [&](const Tensor& t) { return dropped > 0 ? dropout(t, dropped, true) : t; };
  Tensor x = kept(embedding_(tokens.flatten()));
  for (const GptBlock& block : blocks_) {
    x = x + kept(attend(block, block.attn_norm(x), n));
    const Tensor normed = block.ffn_norm(x);
    x = x + kept(block.ffn_down(silu(block.ffn_gate(normed)) * block.ffn_up(normed)));
  }
  return output_(norm_(x)).reshape({-1, n, shape_.vocabulary});
}

}  // namespace croze::llm
