// layers.cpp -- starting values of the layers, and the calls that are more than one function.
#include "nn/layers.h"

#include <cmath>

#include "base/error.h"
#include "tensor/elementwise.h"
#include "tensor/functional.h"
#include "tensor/indexing.h"
#include "tensor/random.h"
#include "tensor/record.h"

namespace croze::nn {
namespace {

// Parameters are computed where they are made: they have memory of their own from the start, so
// that gradients know them apart and assigning to them writes in place.
Tensor constant(const Shape& shape, double value, const TensorOptions& options) {
  return Tensor::full(shape, value, options).realize();
}

Tensor within(double bound, const Shape& shape, const TensorOptions& options) {
  return Tensor::uniform(shape, -bound, bound, options).realize();
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, const LinearOptions& options) {
  check(in > 0 && out > 0, "Linear: {} inputs and {} outputs", in, out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = within(bound, {out, in}, options.tensor);
  if (options.bias) bias = within(bound, {out}, options.tensor);
}

Conv2d::Conv2d(std::int64_t in, std::int64_t out, const PerAxis& kernel,
               const Conv2dLayerOptions& o)
    : options{
          .stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups} {
  check(in > 0 && out > 0, "Conv2d: {} channels to {}", in, out);
  const Shape size = kernel.for_axes(Call("Conv2d", {}, {}), 2, "kernel size", 1);
  check(o.groups > 0 && in % o.groups == 0 && out % o.groups == 0,
        "Conv2d: {} groups do not divide {} and {} channels", o.groups, in, out);
  const Shape shape{out, in / o.groups, size[0], size[1]};
  const double bound = 1 / std::sqrt(static_cast<double>(shape.numel() / out));
  weight = within(bound, shape, o.tensor);
  if (o.bias) bias = within(bound, {out}, o.tensor);
}

BatchNorm2d::BatchNorm2d(std::int64_t channels, const BatchNorm2dOptions& o) : options(o) {
  check(channels > 0, "BatchNorm2d: {} channels", channels);
  if (o.affine) {
    weight = constant({channels}, 1, o.tensor);
    bias = constant({channels}, 0, o.tensor);
  }
  const TensorOptions wide{.dtype = DType::Float32, .device = o.tensor.device};
  running_mean = constant({channels}, 0, wide);
  running_var = constant({channels}, 1, wide);
}

Tensor BatchNorm2d::operator()(const Tensor& x, bool training) {
  if (!training) {
    return batch_norm(x, running_mean, running_var, weight, bias, options.epsilon);
  }
  check(x.ndim() == 4, "BatchNorm2d: shape {} is not (n, channels, h, w)", to_text(x.shape()));
  const std::int64_t count = x.numel() / std::max<std::int64_t>(x.size(1), 1);
  check(count > 1, "BatchNorm2d: shape {} has {} values per channel, where training needs two",
        to_text(x.shape()), count);
  const ChannelStatistics batch = batch_statistics(x);
  // The running variance estimates that of all data, so it is divided by count - 1.
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  running_mean.assign(lerp(running_mean, batch.mean.detach(), options.momentum));
  running_var.assign(lerp(running_var, batch.var.detach() * unbiased, options.momentum));
  return batch_norm(x, batch.mean, batch.var, weight, bias, options.epsilon);
}

LayerNorm::LayerNorm(const Shape& shape, const LayerNormOptions& o)
    : axes(shape.size()), epsilon(o.epsilon) {
  if (!o.affine) return;
  weight = constant(shape, 1, o.tensor);
  bias = constant(shape, 0, o.tensor);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return layer_norm(x, axes, weight, bias, epsilon);
}

Embedding::Embedding(std::int64_t count, std::int64_t width, const TensorOptions& options) {
  check(count > 0 && width > 0, "Embedding: {} rows of {}", count, width);
  weight = Tensor::randn({count, width}, options).realize();
}

Tensor Embedding::operator()(const Tensor& numbers) const { return embedding(weight, numbers); }

Tensor Dropout::operator()(const Tensor& x, bool training) const { return dropout(x, p, training); }

}  // namespace croze::nn
