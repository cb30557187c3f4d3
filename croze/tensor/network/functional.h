// functional.h -- what networks are made of: normalisation and attention.
#pragma once

#include "croze/tensor/tensor.h"

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

// (x - mean) / sqrt(var + epsilon) over all channels (axis 1) of a group, or over each channel, of
// each sample; times weight, plus bias, both of shape (c) or undefined.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double epsilon = 1e-5,
                  Location at = Location::current());
Tensor instance_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                     double epsilon = 1e-5, Location at = Location::current());
// x / sqrt(mean(x^2) + epsilon) over the last `axes` axes, times weight.  Without epsilon: the
// distance from 1 to the next float.
Tensor rms_norm(const Tensor& x, int axes = 1, const Tensor& weight = {},
                std::optional<double> epsilon = {}, Location at = Location::current());
// x / (k + alpha * mean(x^2 over a window of `size` channels))^beta.
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4,
                           double beta = 0.75, double k = 1, Location at = Location::current());

// a (.., n, m) times b (.., m, k) without the terms that the mask, Bool, broadcast to (.., n, m),
// leaves out: those add nothing, whatever stands there, and need not be computed nor read.
Tensor masked_matmul(const Tensor& a, const Tensor& b, const Tensor& mask,
                     Location at = Location::current());

struct AttentionOptions {
  Tensor mask = {};     // broadcast to (.., q, k): Bool (false is left out) or added to the scores
  bool causal = false;  // query i sees keys 0..i, whatever stands behind them
  std::optional<double> scale = {};  // 1 / sqrt(d) if not said
  bool grouped = false;  // axis -3: fewer heads of keys and values, each for several of queries
  double dropout = 0;    // of the weights
};
// softmax(q k^T * scale) v for q (.., q, d), k (.., k, d), v (.., k, e): shape (.., q, e).
// A query whose mask leaves no key gets zeros.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {},
                                    Location at = Location::current());

}  // namespace croze
