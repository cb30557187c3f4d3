// distributions.cpp -- draws from distributions, made of uniform and normal ones.
#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"

namespace croze {
namespace {

// Uniform in (0, 1], so that its logarithm is finite, of the shape and (wide float) dtype of x.
Tensor positive_uniform(const Tensor& x, Location at) { return 1 - Tensor::rand_like(x, at); }

}  // namespace

// ---- of each element --------------------------------------------------------------------------

Tensor bernoulli(const Tensor& p, Location at) {
  const Call call("bernoulli", {&p}, at);
  call.require(is_float(p.dtype()), "probabilities are floats, not {}", name_of(p.dtype()));
  const TensorOptions options{.dtype = p.dtype() == DType::Float64 ? p.dtype() : DType::Float32,
                              .device = beside(p).device};
  return (Tensor::rand(p.shape(), options, at) < p).cast(p.dtype());
}

Tensor normal(const Operand& mean, const Operand& deviation) {
  return in_common_float("normal", mean, deviation, [&](const Tensor& m, const Tensor& s) {
    const Shape shapes[] = {m.shape(), s.shape()};
    const Tensor& bound = m.device_index() < 0 ? s : m;
    const Shape shape = call_of("normal", mean, deviation).broadcast(shapes);
    const TensorOptions options{.dtype = m.dtype(), .device = beside(bound).device};
    return Tensor::randn(shape, options, mean.at()) * s + m;
  });
}

Tensor log_normal(const Shape& shape, double mean, double deviation, const TensorOptions& options,
                  Location at) {
  const CallScope scope("log_normal", at);
  return exp(Tensor::randn(shape, options, at) * deviation + mean);
}

Tensor exponential(const Shape& shape, double rate, const TensorOptions& options, Location at) {
  const CallScope scope("exponential", at);
  check(rate > 0, at, "exponential: rate {} must be positive", rate);
  return -log1p(-Tensor::rand(shape, options, at)) / rate;
}

Tensor cauchy(const Shape& shape, double median, double width, const TensorOptions& options,
              Location at) {
  const CallScope scope("cauchy", at);
  check(width > 0, at, "cauchy: width {} must be positive", width);
  return tan((Tensor::rand(shape, options, at) - 0.5) * std::numbers::pi) * width + median;
}

Tensor geometric(const Shape& shape, double p, const TensorOptions& options, Location at) {
  const CallScope scope("geometric", at);
  check(0 < p && p < 1, at, "geometric: probability {} is not in (0, 1)", p);
  return floor(log1p(-Tensor::rand(shape, options, at)) / std::log1p(-p)) + 1;
}

// ---- Poisson ----------------------------------------------------------------------------------

namespace {

constexpr double small_rate = 10;

// How many values of the distribution function lie below a uniform number.
Tensor poisson_by_inversion(const Tensor& rate, Location at) {
  const Tensor u = Tensor::rand_like(rate, at);
  Tensor term = exp(-rate), below = term, count = Tensor::zeros_like(rate);
  for (int k = 1; k <= 36; k++) {
    count = count + (u >= below).cast(rate.dtype());
    term = term * rate * (1.0 / k);
    below = below + term;
  }
  return count;
}

// Hormann, "The transformed rejection method for generating Poisson random variables" (1993),
// PTRS.  An attempt is accepted with a probability of about 0.9; ten are made at once, which
// leaves 1e-9 of the draws, and these get the rate itself.
Tensor poisson_by_rejection(const Tensor& rate, Location at) {
  const Tensor root = sqrt(rate), log_rate = log(rate);
  const Tensor b = 0.931 + 2.53 * root, a = 0.02483 * b - 0.059;
  const Tensor inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  Tensor result = round(rate);
  for (int i = 0; i < 10; i++) {
    const Tensor u = Tensor::rand_like(rate, at) - 0.5, v = positive_uniform(rate, at);
    const Tensor edge = 0.5 - abs(u);
    const Tensor k = floor((2 * a / edge + b) * u + rate + 0.43);
    const Tensor possible = (k >= 0) & (edge > 0);
    const Tensor n = where(possible, k, 0), e = where(possible, edge, 0.5);
    const Tensor height = log(v * inverse_alpha / (a / (e * e) + b));
    const Tensor accepted = possible & (height <= n * log_rate - rate - lgamma(n + 1));
    result = where(accepted, n, result).contiguous();
  }
  return result;
}

}  // namespace

Tensor poisson(const Tensor& rate, Location at) {
  const Call call("poisson", {&rate}, at);
  call.require(is_float(rate.dtype()), "rates are floats, not {}", name_of(rate.dtype()));
  return in_wide_float(rate.detach(), [&](const Tensor& v) {
    const Tensor is_small = v < small_rate;
    const Tensor few = poisson_by_inversion(where(is_small, v, 1), at);
    const Tensor many = poisson_by_rejection(where(is_small, small_rate, v), at);
    return where(is_small, few, many);
  });
}

// ---- choices ----------------------------------------------------------------------------------

// With putting back: where a uniform number falls among the running sums.  Without: the greatest of
// weight / exponential, an exponential race.
Tensor multinomial(const Tensor& p, std::int64_t count, bool replacement, Location at) {
  const Call call("multinomial", {&p}, at);
  call.require(is_float(p.dtype()), "weights are floats, not {}", name_of(p.dtype()));
  call.require(p.ndim() == 1 || p.ndim() == 2, "the weights are (c) or (n, c)");
  call.require(count > 0, "{} draws", count);
  const Tensor w = p.detach().cast(p.dtype() == DType::Float64 ? DType::Float64 : DType::Float32);
  if (!replacement) {
    call.require(count <= p.size(-1), "{} of {} classes cannot be drawn without putting back",
                 count, p.size(-1));
    const Tensor race = w / -log(positive_uniform(w, at));
    return topk(where(w > 0, race, -1.0), count, -1, true, at).indices;
  }
  const Tensor sums = cumsum(w, -1, at).contiguous();
  Shape shape = p.shape();
  shape[shape.size() - 1] = count;
  const TensorOptions options{.dtype = w.dtype(), .device = beside(p).device};
  const Tensor u = Tensor::rand(shape, options, at) * narrow(sums, -1, p.size(-1) - 1, 1, at);
  const Tensor place = searchsorted(sums, Operand(u, at), true);
  return clamp(place, 0, static_cast<double>(p.size(-1) - 1));
}

Tensor randperm(std::int64_t n, const TensorOptions& options, Location at) {
  const CallScope scope("randperm", at);
  check(n >= 0, at, "randperm: {} numbers", n);
  const Tensor keys = Tensor::randint(0, INT64_MAX, {n}, {.device = options.device}, at);
  return argsort(keys.contiguous(), 0, false, at).cast(options.dtype.value_or(DType::Int64));
}

// ---- dropout ----------------------------------------------------------------------------------

namespace {

// Which elements, or channels, are kept.
Tensor kept(const Call& call, const Tensor& x, double p, bool channels, Location at) {
  call.require(0 <= p && p <= 1, "probability {} is not in [0, 1]", p);
  call.require(!channels || x.ndim() >= 2, "channels are axis 1");
  Shape shape = x.shape();
  for (int i = 2; channels && i < shape.size(); i++) shape[i] = 1;
  return Tensor::rand(shape, {.device = beside(x).device}, at) >= p;
}

Tensor dropped(std::string_view name, const Tensor& x, double p, bool training, bool channels,
               Location at) {
  const Call call(name, {&x}, at);
  const Tensor keep = kept(call, x, p, channels, at);
  if (!training || p == 0) return x;
  const Tensor v = as_float(x);
  return p == 1 ? v * 0.0 : where(keep, v * (1 / (1 - p)), 0);
}

// Klambauer et al. (2017): what is dropped becomes the limit of selu at -inf.
Tensor alpha_dropped(std::string_view name, const Tensor& x, double p, bool training, bool channels,
                     Location at) {
  const Call call(name, {&x}, at);
  const Tensor keep = kept(call, x, p, channels, at);
  if (!training || p == 0) return x;
  const Tensor v = as_float(x);
  if (p == 1) return v * 0.0;
  constexpr double limit = -1.0507009873554804934 * 1.6732632423543772848;
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * limit * limit));
  return where(keep, v, limit) * scale - scale * p * limit;
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training, Location at) {
  return dropped("dropout", x, p, training, false, at);
}

Tensor feature_dropout(const Tensor& x, double p, bool training, Location at) {
  return dropped("feature_dropout", x, p, training, true, at);
}

Tensor alpha_dropout(const Tensor& x, double p, bool training, Location at) {
  return alpha_dropped("alpha_dropout", x, p, training, false, at);
}

Tensor feature_alpha_dropout(const Tensor& x, double p, bool training, Location at) {
  return alpha_dropped("feature_alpha_dropout", x, p, training, true, at);
}

}  // namespace croze
