// functional.cpp -- normalisation and attention, composed of tensor functions.
#include "croze/tensor/network/functional.h"

#include <cmath>
#include <limits>

#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

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

// (v - mean) / sqrt(variance + epsilon) over `axes`.
Tensor standardized(const Tensor& v, const Shape& axes, double epsilon, Location at) {
  const Tensor deviation = v - mean(v, axes, true, at);
  return deviation * rsqrt(mean(square(deviation), axes, true, at) + epsilon);
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
    call.require(!t->defined() || t->shape() == sizes, "weight and bias must have shape {}", sizes);
  }
  return scaled(standardized(wide_float(x), list, epsilon, at), weight, bias, as_float(x).dtype());
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

namespace {

// One number per channel, aligned with axis 1 of x.
Tensor per_channel(const Call& call, const Tensor& t, const Tensor& x, Location at) {
  if (!t.defined()) return t;
  call.require(t.shape() == Shape{x.size(1)}, "there must be one number per channel, {}",
               x.size(1));
  Shape shape;
  for (int i = 1; i < x.ndim(); i++) shape.push_back(i == 1 ? x.size(1) : 1);
  return reshape(t, shape, at);
}

}  // namespace

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double epsilon, Location at) {
  const Call call("group_norm", {&x, &weight, &bias}, at);
  call.require(x.ndim() >= 2 && groups > 0 && x.size(1) % groups == 0,
               "{} groups do not divide the channels, axis 1", groups);
  const Tensor cut =
      reshape(wide_float(x), {x.size(0), groups, x.size(0) * groups == 0 ? 0 : -1}, at);
  const Tensor result = reshape(standardized(cut, {2}, epsilon, at), x.shape(), at);
  return scaled(result, per_channel(call, weight, x, at), per_channel(call, bias, x, at),
                as_float(x).dtype());
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                     Location at) {
  const Call call("instance_norm", {&x, &weight, &bias}, at);
  call.require(x.ndim() >= 3, "the input has batch, channels and spatial axes");
  Shape spatial;
  for (int i = 2; i < x.ndim(); i++) spatial.push_back(i);
  return scaled(standardized(wide_float(x), spatial, epsilon, at), per_channel(call, weight, x, at),
                per_channel(call, bias, x, at), as_float(x).dtype());
}

Tensor rms_norm(const Tensor& x, int axes, const Tensor& weight, std::optional<double> epsilon,
                Location at) {
  const Call call("rms_norm", {&x, &weight}, at);
  call.require(0 < axes && axes <= x.ndim(), "{} axes to normalise", axes);
  Shape list, sizes;
  for (int i = x.ndim() - axes; i < x.ndim(); i++) {
    list.push_back(i);
    sizes.push_back(x.shape()[i]);
  }
  call.require(!weight.defined() || weight.shape() == sizes, "the weight must have shape {}",
               sizes);
  const Tensor v = wide_float(x);
  const double least = epsilon.value_or(v.dtype() == DType::Float64 ? 0x1p-52 : 0x1p-23);
  return scaled(v * rsqrt(mean(square(v), list, true, at) + least), weight, {},
                as_float(x).dtype());
}

Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha, double beta, double k,
                           Location at) {
  const Call call("local_response_norm", {&x}, at);
  call.require(x.ndim() >= 3, "the input has batch, channels and spatial axes");
  call.require(size > 0, "a window of {} channels", size);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor channels = transpose(square(v), 1, -1, at);
    const Tensor padded = pad(channels, {size / 2, (size - 1) / 2}, 0, at);
    const Tensor average = mean(unfold(padded, -1, size, 1, 1, at), -1, false, at);
    return v / pow(transpose(average, 1, -1, at) * alpha + k, beta);
  });
}

// ---- attention --------------------------------------------------------------------------------

Tensor masked_matmul(const Tensor& a, const Tensor& b, const Tensor& mask, Location at) {
  const Call call("masked_matmul", {&a, &b, &mask}, at);
  call.require(a.ndim() >= 2 && b.ndim() >= 2 && mask.ndim() >= 2,
               "matrices and mask have at least two axes");
  call.require(a.size(-1) == b.size(-2), "there must be as many columns as rows of the second");
  const Tensor terms = unsqueeze(a, -2, at) * unsqueeze(transpose(b, -2, -1, at), -3, at);
  return sum(where(unsqueeze(mask, -2, at), terms, 0), {-1}, false, at);
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options, Location at) {
  const Call call("scaled_dot_product_attention", {&q, &k, &v}, at);
  call.require(q.ndim() >= 2 && k.ndim() >= 2 && v.ndim() >= 2,
               "queries, keys and values have at least two axes");
  call.require(q.size(-1) == k.size(-1), "queries and keys must be of one width");
  call.require(k.size(-2) == v.size(-2), "there must be as many keys as values");
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  // One head of keys and values serves several heads of queries.
  const auto shared = [&](const Tensor& t) {
    if (!options.grouped || t.ndim() < 3) return t;
    call.require(q.ndim() >= 3 && t.size(-3) > 0 && q.size(-3) % t.size(-3) == 0,
                 "{} heads of queries do not share {} heads of keys", q.size(-3), t.size(-3));
    return repeat_interleave(t, q.size(-3) / t.size(-3), -3, at);
  };
  constexpr double never = -std::numeric_limits<double>::infinity();
  // scores is (.., queries, keys); halves stay wide until the weights are applied.
  const Tensor keys = transpose(wide_float(shared(k)), -2, -1, at), values = wide_float(shared(v));
  Tensor scores = matmul(wide_float(q), keys, at) * scale, seen;
  if (options.causal) {
    seen = tril(Tensor::ones({q.size(-2), k.size(-2)}, {.dtype = DType::Bool}, at), 0, at);
    scores = where(seen, scores, never);
  }
  if (options.mask.defined()) {
    scores = options.mask.dtype() == DType::Bool ? where(options.mask, scores, never)
                                                 : scores + options.mask;
  }
  Tensor weights = softmax(scores, -1, at);
  if (options.mask.defined() && k.size(-2) > 0) {
    // A query that may look nowhere sees nothing.
    weights = where(max(scores, -1, true, at).detach() == never, 0, weights);
  }
  weights = dropout(weights, options.dropout, options.dropout > 0, at);
  // What multiplies the values is as exact as they are.
  weights = weights.cast(as_float(v).dtype()).cast(values.dtype());
  const Tensor mixed =
      options.causal ? masked_matmul(weights, values, seen, at) : matmul(weights, values, at);
  return mixed.cast(as_float(v).dtype());
}

}  // namespace croze
