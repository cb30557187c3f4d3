// functional.cpp -- normalisation, attention and dropout, composed of tensor functions.
#include "tensor/functional.h"

#include <cmath>
#include <limits>

#include "tensor/activation.h"
#include "tensor/elementwise.h"
#include "tensor/indexing.h"
#include "tensor/linalg.h"
#include "tensor/movement.h"
#include "tensor/record.h"
#include "tensor/reduce.h"

namespace croze {
namespace {

// result * weight + bias, where given, in the dtype of x.
Tensor scaled(Tensor result, const Tensor& weight, const Tensor& bias, DType dtype) {
  if (weight.defined()) result = result * weight;
  if (bias.defined()) result = result + bias;
  return result.cast(dtype);
}

Tensor wide_float(const Tensor& x) {
  const Tensor v = as_float(x);
  return is_half(v.dtype()) ? v.cast(DType::Float32) : v;
}

}  // namespace

// ---- normalisation ----------------------------------------------------------------------------

Tensor layer_norm(const Tensor& x, int axes, const Tensor& weight, const Tensor& bias,
                  double epsilon, Location at) {
  const Call call("layer_norm", {&x, &weight, &bias}, at);
  call.require(0 < axes && axes <= x.ndim(), "{} axes to normalise", axes);
  Shape list, sizes;
  for (int i = x.ndim() - axes; i < x.ndim(); i++) {
    list.push_back(i);
    sizes.push_back(x.shape()[i]);
  }
  for (const Tensor* t : {&weight, &bias}) {
    call.require(!t->defined() || t->shape() == sizes, "weight and bias must have shape {}",
                 to_text(sizes));
  }
  const Tensor v = wide_float(x);
  const Tensor deviation = v - mean(v, list, true, at);
  const Tensor variance = mean(square(deviation), list, true, at);
  return scaled(deviation * rsqrt(variance + epsilon), weight, bias, as_float(x).dtype());
}

ChannelStatistics batch_statistics(const Tensor& x, Location at) {
  const Call call("batch_statistics", {&x}, at);
  call.require(x.ndim() >= 2, "axis 1 is the channels");
  Shape others;
  for (int i = 0; i < x.ndim(); i++) {
    if (i != 1) others.push_back(i);
  }
  const Tensor v = wide_float(x);
  const Tensor average = mean(v, others, true, at);
  const Tensor variance = mean(square(v - average), others, true, at);
  const Shape channels{x.size(1)};
  return {reshape(average, channels, at), reshape(variance, channels, at)};
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                  const Tensor& bias, double epsilon, Location at) {
  const Call call("batch_norm", {&x, &mean, &var, &weight, &bias}, at);
  call.require(x.ndim() >= 2, "axis 1 is the channels");
  Shape channels;  // as they stand in x
  for (int i = 1; i < x.ndim(); i++) channels.push_back(i == 1 ? x.size(1) : 1);
  const auto aligned = [&](const Tensor& t) {
    if (!t.defined()) return t;
    call.require(t.shape() == Shape{x.size(1)}, "each statistic has one number per channel, {}",
                 x.size(1));
    return reshape(t, channels, at);
  };
  const Tensor scale = rsqrt(aligned(var) + epsilon);
  return scaled((wide_float(x) - aligned(mean)) * scale, aligned(weight), aligned(bias),
                as_float(x).dtype());
}

Tensor dropout(const Tensor& x, double p, bool training, Location at) {
  const Call call("dropout", {&x}, at);
  call.require(0 <= p && p <= 1, "probability {} is not in [0, 1]", p);
  if (!training || p == 0) return x;
  const Tensor v = as_float(x);
  if (p == 1) return v * 0.0;
  const std::string_view device = x.device_index() < 0 ? "" : x.device();
  const Tensor drawn = Tensor::rand(x.shape(), {.device = device}, at);
  return where(drawn < p, 0, v * (1 / (1 - p)));
}

// ---- attention --------------------------------------------------------------------------------

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options, Location at) {
  const Call call("scaled_dot_product_attention", {&q, &k, &v}, at);
  call.require(q.ndim() >= 2 && k.ndim() >= 2 && v.ndim() >= 2,
               "queries, keys and values have at least two axes");
  call.require(q.size(-1) == k.size(-1), "queries and keys must be of one width");
  call.require(k.size(-2) == v.size(-2), "there must be as many keys as values");
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  constexpr double never = -std::numeric_limits<double>::infinity();
  // scores is (.., queries, keys); halves stay wide until the weights are applied.
  Tensor scores = matmul(wide_float(q), transpose(wide_float(k), -2, -1, at), at) * scale;
  if (options.causal) {
    const Shape square{q.size(-2), k.size(-2)};
    scores = where(tril(Tensor::ones(square, {.dtype = DType::Bool}, at), 0, at), scores, never);
  }
  if (options.mask.defined()) {
    scores = options.mask.dtype() == DType::Bool ? where(options.mask, scores, never)
                                                 : scores + options.mask;
  }
  return matmul(softmax(scores, -1, at), wide_float(v), at).cast(as_float(v).dtype());
}

}  // namespace croze
