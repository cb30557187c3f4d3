// functional.h -- what networks are made of: normalisation, attention, dropout.
#pragma once

#include "tensor/tensor.h"

namespace croze {

// (x - mean) / sqrt(var + epsilon) over the last `axes` axes, times weight, plus bias (both of the
// shape of those axes, or undefined).  Half types compute in Float32.
Tensor layer_norm(const Tensor& x, int axes = 1, const Tensor& weight = {}, const Tensor& bias = {},
                  double epsilon = 1e-5, Location at = Location::current());

// Mean and variance (divided by the count) per channel, axis 1, over all other axes: shape (c).
struct ChannelStatistics {
  Tensor mean, var;
};
ChannelStatistics batch_statistics(const Tensor& x, Location at = Location::current());
// (x - mean) / sqrt(var + epsilon) * weight + bias with everything of shape (c); weight and bias
// may be undefined.
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                  const Tensor& bias = {}, double epsilon = 1e-5,
                  Location at = Location::current());

// When training: each element is zeroed with probability p, the others are divided by 1 - p.
// Otherwise x.  Throws Error unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, bool training, Location at = Location::current());

struct AttentionOptions {
  Tensor mask = {};     // broadcast to (.., q, k): Bool (false is left out) or added to the scores
  bool causal = false;  // query i sees keys 0..i
  std::optional<double> scale = {};  // 1 / sqrt(d) if not said
};
// softmax(q k^T * scale) v for q (.., q, d), k (.., k, d), v (.., k, e): shape (.., q, e).
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    Location at = Location::current());

}  // namespace croze
