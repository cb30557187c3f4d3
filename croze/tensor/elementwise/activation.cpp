// activation.cpp -- the activation functions, composed of the maths.
#include "croze/tensor/elementwise/activation.h"

#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {

// ---- smooth ones ------------------------------------------------------------------------------

Tensor sigmoid(const Tensor& x, Location at) {
  const CallScope scope("sigmoid", at);
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor e = exp(-magnitude(v));
    return where(v < 0, e, 1) / (1 + e);
  });
}

namespace {

// log(1 + exp(x)).  where and not relu: at 0 the halves of the gradient must belong to one side.
Tensor log1p_exp(const Tensor& x) { return where(x < 0, 0, x) + log1p(exp(-magnitude(x))); }

}  // namespace

Tensor logsigmoid(const Tensor& x, Location at) {
  const CallScope scope("logsigmoid", at);
  return in_wide_float(x, [](const Tensor& v) { return -log1p_exp(-v); });
}

Tensor silu(const Tensor& x, Location at) {
  const CallScope scope("silu", at);
  return in_wide_float(x, [](const Tensor& v) { return v * sigmoid(v); });
}

Tensor gelu(const Tensor& x, Gelu form, Location at) {
  const CallScope scope("gelu", at);
  return in_wide_float(x, [&](const Tensor& v) {
    if (form == Gelu::Erf) {
      // By the tail of the normal distribution, which erf would lose to cancellation.  where and
      // not relu: at 0 the halves of the gradient must belong to one side.
      const NormalTail tail = normal_tail(v);
      return multiply_add(-tail.size, tail.chance, where(v < 0, 0, v));
    }
    // (1 + tanh(u)) / 2 is sigmoid(2u).
    const double scale = 2 * std::sqrt(2 / std::numbers::pi);
    return v * sigmoid(v * (scale + 0.044715 * scale * (v * v)));
  });
}

Tensor quick_gelu(const Tensor& x, Location at) {
  const CallScope scope("quick_gelu", at);
  return in_wide_float(x, [](const Tensor& v) { return v * sigmoid(v * 1.702); });
}

Tensor softplus(const Tensor& x, double beta, double threshold, Location at) {
  const CallScope scope("softplus", at);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor u = v * beta;
    return where(u > threshold, v, log1p_exp(u) * (1 / beta));
  });
}

Tensor softsign(const Tensor& x, Location at) {
  const CallScope scope("softsign", at);
  return in_wide_float(x, [](const Tensor& v) { return v / (1 + magnitude(v)); });
}

Tensor mish(const Tensor& x, Location at) {
  const CallScope scope("mish", at);
  return in_wide_float(x, [](const Tensor& v) { return v * tanh(log1p_exp(v)); });
}

Tensor tanhshrink(const Tensor& x, Location at) {
  const CallScope scope("tanhshrink", at);
  return in_wide_float(x, [](const Tensor& v) { return v - tanh(v); });
}

// ---- in pieces --------------------------------------------------------------------------------

Tensor relu(const Tensor& x, Location at) {
  const CallScope scope("relu", at);
  return where(x <= 0, Tensor::zeros_like(x), x);
}
Tensor relu6(const Tensor& x, Location at) {
  const CallScope scope("relu6", at);
  return hardtanh(x, 0, 6);
}

Tensor leaky_relu(const Tensor& x, double slope, Location at) {
  const CallScope scope("leaky_relu", at);
  const Tensor v = as_float(x);
  return where(v > 0, v, v * slope);
}

Tensor prelu(const Tensor& x, const Tensor& slope, Location at) {
  const Call call("prelu", {&x, &slope}, at);
  call.require(slope.ndim() <= 1, "the slope is one number or one per channel");
  Tensor s = slope;
  if (slope.numel() != 1) {
    call.require(x.ndim() >= 2 && slope.numel() == x.size(1), "{} slopes for the channels of {}",
                 slope.numel(), x.shape());
    Shape channels;
    for (int i = 1; i < x.ndim(); i++) channels.push_back(i == 1 ? x.size(1) : 1);
    s = reshape(slope, channels, at);
  } else {
    s = reshape(slope, {}, at);
  }
  return where(x > 0, x, s * x);
}

Tensor rrelu(const Tensor& x, double low, double high, bool training, Location at) {
  const Call call("rrelu", {&x}, at);
  call.require(low <= high, "the slopes [{}, {}) are none", low, high);
  if (!training) return leaky_relu(x, (low + high) / 2);
  const Tensor v = as_float(x);
  return where(v > 0, v, v * (Tensor::rand_like(v, at) * (high - low) + low));
}

namespace {

// scale * (x above 0, alpha * (exp(x * rate) - 1) below).
Tensor exponential_unit(const Tensor& x, double alpha, double rate, double scale) {
  return in_wide_float(x, [&](const Tensor& v) {
    return where(v > 0, v * scale, expm1(where(v > 0, 0, v) * rate) * (alpha * scale));
  });
}

}  // namespace

Tensor elu(const Tensor& x, double alpha, Location at) {
  const CallScope scope("elu", at);
  return exponential_unit(x, alpha, 1, 1);
}

Tensor celu(const Tensor& x, double alpha, Location at) {
  const Call call("celu", {&x}, at);
  call.require(alpha != 0, "alpha is zero");
  return exponential_unit(x, alpha, 1 / alpha, 1);
}

// The constants of Klambauer et al. (2017).
Tensor selu(const Tensor& x, Location at) {
  const CallScope scope("selu", at);
  return exponential_unit(x, 1.6732632423543772848, 1, 1.0507009873554804934);
}

Tensor hardtanh(const Tensor& x, double low, double high, Location at) {
  const CallScope scope("hardtanh", at);
  // Gradient 0 on the limits, as in PyTorch.
  const Tensor below = operand_as(Operand(low), x.dtype());
  const Tensor above = operand_as(Operand(high), x.dtype());
  return where(x <= below, below, where(x >= above, above, x));
}

Tensor hardsigmoid(const Tensor& x, Location at) {
  const CallScope scope("hardsigmoid", at);
  return in_wide_float(x, [](const Tensor& v) { return relu6(v + 3) * (1.0 / 6); });
}

Tensor hardswish(const Tensor& x, Location at) {
  const CallScope scope("hardswish", at);
  return in_wide_float(x, [](const Tensor& v) {
    return where(v <= -3, 0, where(v >= 3, v, v * (v + 3) * (1.0 / 6)));
  });
}

Tensor hardshrink(const Tensor& x, double lambda, Location at) {
  const CallScope scope("hardshrink", at);
  const Tensor v = as_float(x);
  return where((v >= -lambda) & (v <= lambda), 0, v);
}

Tensor softshrink(const Tensor& x, double lambda, Location at) {
  const Call call("softshrink", {&x}, at);
  call.require(lambda >= 0, "lambda {} is negative", lambda);
  return where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * 0.0));
}

Tensor threshold(const Tensor& x, double threshold, double value, Location at) {
  const CallScope scope("threshold", at);
  return where(x <= threshold, operand_as(Operand(value), x.dtype()), x);
}

// ---- along an axis ----------------------------------------------------------------------------

Tensor glu(const Tensor& x, std::int64_t axis, Location at) {
  const Call call("glu", {&x}, at);
  call.require(x.ndim() > 0 && x.size(axis, at) % 2 == 0, "axis {} has no two halves", axis);
  const std::vector<Tensor> halves = chunk(x, 2, axis, at);
  return halves[0] * sigmoid(halves[1]);
}

Tensor softmin(const Tensor& x, std::int64_t axis, Location at) {
  const CallScope scope("softmin", at);
  return softmax(-as_float(x), axis, at);
}

Tensor gumbel_softmax(const Tensor& x, double tau, bool hard, std::int64_t axis, Location at) {
  const Call call("gumbel_softmax", {&x}, at);
  call.require(tau > 0, "tau {} must be positive", tau);
  const Tensor v = as_float(x);
  // -log of an exponential variate; 1 - u keeps the inner logarithm finite.
  const Tensor noise = -log(-log1p(-Tensor::rand_like(v, at)));
  const Tensor soft = softmax((v + noise) / tau, axis, at);
  if (!hard) return soft;
  const Tensor best = argmax(soft, axis, true, at);
  const std::int64_t a = call.axis(axis, x.ndim());
  Shape line;
  for (int i = 0; i < x.ndim(); i++) line.push_back(i == a ? x.size(i) : 1);
  const Tensor one_hot = reshape(Tensor::arange(x.ndim() ? x.size(a) : 1, {}, at), line) == best;
  return one_hot.cast(soft.dtype()) - soft.detach() + soft;
}

}  // namespace croze
