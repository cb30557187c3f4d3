// convolution.cpp -- starting values and calls of the layers of convolutions.
#include "croze/nn/convolution.h"

#include <cmath>
#include <string>

#include "croze/base/error.h"
#include "croze/nn/initial.h"
#include "croze/tensor/record.h"

namespace croze::nn {
namespace {

// (first, second / groups, kernel ..), where the channels are first and second in either order.
Shape weight_shape(const std::string& layer, int axes, std::int64_t first, std::int64_t second,
                   std::int64_t groups, const PerAxis& kernel, Location at) {
  check(first > 0 && second > 0, at, "{}: {} and {} channels", layer, first, second);
  check(groups > 0 && first % groups == 0 && second % groups == 0, at,
        "{}: {} groups do not divide {} and {} channels", layer, groups, first, second);
  Shape shape{first, second / groups};
  for (std::int64_t size : kernel.for_axes(Call(layer, {}, at), axes, "kernel size", 1)) {
    shape.push_back(size);
  }
  return shape;
}

double bound_of(const Shape& weight) {
  return 1 / std::sqrt(static_cast<double>(weight.numel() / weight[0]));
}

}  // namespace

template <int Axes>
Conv<Axes>::Conv(std::int64_t in, std::int64_t out, const PerAxis& kernel,
                 const ConvLayerOptions& o, Location at)
    : options{o.stride, o.padding, o.dilation, o.groups, o.same} {
  const std::string name = "Conv" + std::to_string(Axes) + "d";
  const Shape shape = weight_shape(name, Axes, out, in, o.groups, kernel, at);
  weight = within(bound_of(shape), shape, o.tensor, at);
  if (o.bias) bias = within(bound_of(shape), {out}, o.tensor, at);
}

template <int Axes>
Tensor Conv<Axes>::operator()(const Tensor& x, Location at) const {
  if constexpr (Axes == 1) return conv1d(x, weight, bias, options, at);
  if constexpr (Axes == 2) return conv2d(x, weight, bias, options, at);
  if constexpr (Axes == 3) return conv3d(x, weight, bias, options, at);
}

template <int Axes>
ConvTranspose<Axes>::ConvTranspose(std::int64_t in, std::int64_t out, const PerAxis& kernel,
                                   const ConvTransposeLayerOptions& o, Location at)
    : options{o.stride, o.padding, o.output_padding, o.dilation, o.groups} {
  const std::string name = "ConvTranspose" + std::to_string(Axes) + "d";
  const Shape shape = weight_shape(name, Axes, in, out, o.groups, kernel, at);
  weight = within(bound_of(shape), shape, o.tensor, at);
  if (o.bias) bias = within(bound_of(shape), {out}, o.tensor, at);
}

template <int Axes>
Tensor ConvTranspose<Axes>::operator()(const Tensor& x, Location at) const {
  if constexpr (Axes == 1) return conv_transpose1d(x, weight, bias, options, at);
  if constexpr (Axes == 2) return conv_transpose2d(x, weight, bias, options, at);
  if constexpr (Axes == 3) return conv_transpose3d(x, weight, bias, options, at);
}

template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;

}  // namespace croze::nn
