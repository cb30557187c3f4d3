// normalization.cpp -- starting values and calls of the layers that normalise.
#include "croze/nn/normalization.h"

#include <algorithm>
#include <string>

#include "croze/base/error.h"
#include "croze/nn/initial.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/print.h"

namespace croze::nn {
namespace {

// What most of these layers learn: a factor and a summand.
template <typename Layer>
void add_weights(Layer& layer, const Shape& shape, bool affine, const TensorOptions& options,
                 Location at) {
  if (!affine) return;
  layer.weight = constant(shape, 1, options, at);
  layer.bias = constant(shape, 0, options, at);
}

std::string name_of(const char* layer, int axes) { return layer + std::to_string(axes) + "d"; }

void check_channels(const std::string& layer, std::int64_t channels, Location at) {
  check(channels > 0, at, "{}: {} channels", layer, channels);
}

void check_axes(const std::string& layer, const Tensor& x, int fewest, int most, Location at) {
  check(x.ndim() >= fewest && x.ndim() <= most, at, "{}: shape {} has {} axes, not {}{}", layer,
        x.shape(), x.ndim(), fewest < most ? std::to_string(fewest) + " or " : "", most);
}

void check_batch(const std::string& layer, int axes, const Tensor& x, const Tensor& mean,
                 Location at) {
  check_axes(layer, x, axes == 1 ? 2 : axes + 2, axes + 2, at);
  check(x.size(1) == mean.size(0), at, "{}: shape {} has {} channels, the layer {}", layer,
        x.shape(), x.size(1), mean.size(0));
}

}  // namespace

template <int Axes>
BatchNorm<Axes>::BatchNorm(std::int64_t channels, const BatchNormOptions& o, Location at)
    : options(o) {
  check_channels(name_of("BatchNorm", Axes), channels, at);
  add_weights(*this, {channels}, o.affine, o.tensor, at);
  const TensorOptions wide{.dtype = DType::Float32, .device = o.tensor.device};
  running_mean = constant({channels}, 0, wide, at);
  running_var = constant({channels}, 1, wide, at);
}

template <int Axes>
Tensor BatchNorm<Axes>::evaluate(const Tensor& x, Location at) const {
  check_batch(name_of("BatchNorm", Axes), Axes, x, running_mean, at);
  return batch_norm(x, running_mean, running_var, weight, bias, options.epsilon, at);
}

template <int Axes>
Tensor BatchNorm<Axes>::operator()(const Tensor& x, bool training, Location at) {
  if (!training) return evaluate(x, at);
  check_batch(name_of("BatchNorm", Axes), Axes, x, running_mean, at);
  const std::int64_t count = x.numel() / std::max<std::int64_t>(x.size(1), 1);
  check(count > 1, at, "{}: shape {} has {} values per channel, where training needs two",
        name_of("BatchNorm", Axes), x.shape(), count);
  const ChannelStatistics batch = batch_statistics(x, at);
  // The running variance estimates that of all data, so it is divided by count - 1.
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  running_mean.assign(lerp(running_mean, batch.mean, options.momentum).detach());
  running_var.assign(lerp(running_var, batch.var * unbiased, options.momentum).detach());
  return batch_norm(x, batch.mean, batch.var, weight, bias, options.epsilon, at);
}

LayerNorm::LayerNorm(const Shape& shape, const NormOptions& o, Location at)
    : axes(shape.size()), epsilon(o.epsilon) {
  add_weights(*this, shape, o.affine, o.tensor, at);
}

Tensor LayerNorm::operator()(const Tensor& x, Location at) const {
  return layer_norm(x, axes, weight, bias, epsilon, at);
}

GroupNorm::GroupNorm(std::int64_t g, std::int64_t channels, const NormOptions& o, Location at)
    : groups(g), epsilon(o.epsilon) {
  check_channels("GroupNorm", channels, at);
  check(groups > 0 && channels % groups == 0, at, "GroupNorm: {} groups do not divide {} channels",
        groups, channels);
  add_weights(*this, {channels}, o.affine, o.tensor, at);
}

Tensor GroupNorm::operator()(const Tensor& x, Location at) const {
  return group_norm(x, groups, weight, bias, epsilon, at);
}

template <int Axes>
InstanceNorm<Axes>::InstanceNorm(std::int64_t channels, const InstanceNormOptions& o, Location at)
    : epsilon(o.epsilon) {
  check_channels(name_of("InstanceNorm", Axes), channels, at);
  add_weights(*this, {channels}, o.affine, o.tensor, at);
}

template <int Axes>
Tensor InstanceNorm<Axes>::operator()(const Tensor& x, Location at) const {
  check_axes(name_of("InstanceNorm", Axes), x, Axes + 1, Axes + 2, at);
  if (x.ndim() == Axes + 2) return instance_norm(x, weight, bias, epsilon, at);
  return squeeze(instance_norm(unsqueeze(x, 0, at), weight, bias, epsilon, at), 0, at);
}

RMSNorm::RMSNorm(const Shape& shape, const RMSNormOptions& o, Location at)
    : axes(shape.size()), epsilon(o.epsilon) {
  if (o.affine) weight = constant(shape, 1, o.tensor, at);
}

Tensor RMSNorm::operator()(const Tensor& x, Location at) const {
  return rms_norm(x, axes, weight, epsilon, at);
}

template struct BatchNorm<1>;
template struct BatchNorm<2>;
template struct BatchNorm<3>;
template struct InstanceNorm<1>;
template struct InstanceNorm<2>;
template struct InstanceNorm<3>;

}  // namespace croze::nn
