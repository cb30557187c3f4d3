// conv.cpp -- convolutions over any number of axes as products of windows and kernels.
#include "croze/tensor/network/conv.h"

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/windows.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {

Shape PerAxis::for_axes(const Call& call, int axes, std::string_view what,
                        std::int64_t least) const {
  call.require(list_.size() == 1 || list_.size() == axes, "{} {} for {} axes", list_.size(), what,
               axes);
  Shape result;
  for (int i = 0; i < axes; i++) {
    result.push_back(list_[list_.size() == 1 ? 0 : i]);
    call.require(result.back() >= least, "{} {} must be at least {}", what, result.back(), least);
  }
  return result;
}

Tensor windows_of(const Tensor& x, const WindowGrid& grid, Scalar border, Location at) {
  const int axes = grid.size.size();
  const int first = x.ndim() - axes;
  Shape amounts;
  for (int i = axes; i-- > 0;) {
    amounts.push_back(grid.before[i]);
    amounts.push_back(grid.after[i]);
  }
  Tensor result = pad(x, amounts, border, at);
  for (int i = 0; i < axes; i++) {
    result = unfold(result, first + i, grid.size[i], grid.stride[i], grid.dilation[i], at);
  }
  return result;
}

Tensor summed_windows(const Tensor& windows, const WindowGrid& grid, const Shape& length,
                      Location at) {
  const int axes = grid.size.size();
  const int first = windows.ndim() - 2 * axes;
  Tensor result = windows;
  for (int i = axes; i-- > 0;) {
    const std::int64_t padded = length[i] + grid.before[i] + grid.after[i];
    result = unwindow(result, first + i, padded, grid.stride[i], grid.dilation[i], at);
    result = narrow(sum(result, -1, false, at), first + i, grid.before[i], length[i], at);
  }
  return result.cast(windows.dtype());
}

namespace {

// Sum of a * b over `axes`, in the accumulator of their common dtype, returned in that dtype.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Axes& axes, Location at) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const DType wide = is_float(dtype) ? accumulator(dtype) : DType::Int64;
  return sum(a.cast(wide) * b.cast(wide), axes, false, at).cast(dtype);
}

Shape joined(const Shape& first, const Shape& second) {
  Shape result = first;
  for (std::int64_t size : second) result.push_back(size);
  return result;
}

Shape part(const Shape& shape, int begin) {
  return Shape(std::span(shape.begin() + begin, shape.end()));
}

Shape ones(int count) {
  Shape result;
  for (int i = 0; i < count; i++) result.push_back(1);
  return result;
}

Shape with_batch(const Tensor& x, int axes) {
  return x.ndim() == axes + 1 ? joined({1}, x.shape()) : x.shape();
}

// The result with the bias, and without the batch axis if x had none.
Tensor finished(const Call& call, Tensor result, const Tensor& bias, const Tensor& x, int axes,
                Location at) {
  if (bias.defined()) {
    const std::int64_t channels = result.size(1);
    call.require(bias.shape() == Shape{channels}, "the bias must have {} elements", channels);
    result = result + reshape(bias, joined({channels}, ones(axes)), at);
  }
  return x.ndim() == axes + 1 ? squeeze(result, 0, at) : result;
}

// Padding that keeps the size.
void pad_to_same(const Call& call, WindowGrid& grid) {
  for (int i = 0; i < grid.size.size(); i++) {
    call.require(grid.stride[i] == 1, "the size stays only with stride 1");
    const std::int64_t total = grid.dilation[i] * (grid.size[i] - 1);
    grid.before[i] = total / 2;
    grid.after[i] = total - total / 2;
  }
}

Tensor convolved(std::string_view name, int axes, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, const ConvOptions& options, Location at) {
  const Call call(name, {&x, &weight, &bias}, at);
  call.device();
  call.require(x.ndim() == axes + 2 || x.ndim() == axes + 1,
               "the input has {} axes: batch (or none), channels, and {} spatial ones", axes + 2,
               axes);
  call.require(weight.ndim() == axes + 2, "the weight has {} axes: outputs, inputs, and its size",
               axes + 2);
  const Tensor input = reshape(x, with_batch(x, axes), at);
  const std::int64_t groups = options.groups;
  const Shape in = input.shape(), w = weight.shape();
  call.require(groups > 0 && in[1] == w[1] * groups && w[0] % groups == 0,
               "{} input and {} output channels in {} groups do not fit a weight of {} inputs",
               in[1], w[0], groups, w[1]);
  WindowGrid grid(call, axes, part(w, 2), options.stride, options.padding, options.dilation);
  if (options.same) pad_to_same(call, grid);
  const Tensor windows = windows_of(input, grid, 0, at);
  const Shape cut = windows.shape();
  const Shape out(std::span(cut.begin() + 2, cut.begin() + 2 + axes));
  // (n, g, 1, c, out.., k..) * (1, g, o, c, 1.., k..) summed over c and k.
  const Tensor left =
      reshape(windows, joined(joined({in[0], groups, 1, w[1]}, out), grid.size), at);
  const Tensor right =
      reshape(weight, joined(joined({1, groups, w[0] / groups, w[1]}, ones(axes)), grid.size), at);
  Shape summed{3};
  for (int i = 0; i < axes; i++) summed.push_back(4 + axes + i);
  const Tensor product = sum_of_products(left, right, summed, at);
  return finished(call, reshape(product, joined({in[0], w[0]}, out), at), bias, x, axes, at);
}

// Each input element is spread over the places that its windows reach, weighted by the kernel.
Tensor convolved_back(std::string_view name, int axes, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const ConvTransposeOptions& options, Location at) {
  const Call call(name, {&x, &weight, &bias}, at);
  call.device();
  call.require(x.ndim() == axes + 2 || x.ndim() == axes + 1,
               "the input has {} axes: batch (or none), channels, and {} spatial ones", axes + 2,
               axes);
  call.require(weight.ndim() == axes + 2, "the weight has {} axes: inputs, outputs, and its size",
               axes + 2);
  const Tensor input = reshape(x, with_batch(x, axes), at);
  const std::int64_t groups = options.groups;
  const Shape in = input.shape(), w = weight.shape();
  call.require(groups > 0 && in[1] == w[0] && w[0] % groups == 0,
               "{} input channels in {} groups do not fit a weight of {} inputs", in[1], groups,
               w[0]);
  const WindowGrid grid(call, axes, part(w, 2), options.stride, options.padding, options.dilation);
  const Shape extra = options.output_padding.for_axes(call, axes, "output padding", 0);

  Tensor spread = input;
  Shape out;
  for (int i = 0; i < axes; i++) {
    const std::int64_t reach = grid.dilation[i] * (grid.size[i] - 1) + 1;
    call.require(extra[i] < std::max(grid.stride[i], grid.dilation[i]),
                 "output padding {} must be less than stride or dilation", extra[i]);
    const std::int64_t length = (in[2 + i] - 1) * grid.stride[i] + reach + extra[i];
    out.push_back(length - 2 * grid.before[i]);
    call.require(out.back() > 0 && in[2 + i] > 0, "padding {} leaves nothing of axis {}",
                 grid.before[i], i);
    Shape expanded = spread.shape();
    expanded.push_back(grid.size[i]);
    spread = expand(unsqueeze(spread, -1, at), expanded, at);
    spread = unwindow(spread, 2 + i, length, grid.stride[i], grid.dilation[i], at);
    spread = narrow(spread, 2 + i, grid.before[i], out.back(), at);
  }
  // (n, g, c, 1, out.., k..) * (1, g, c, o, 1.., k..) summed over c and k.
  const std::int64_t c = w[0] / groups;
  const Tensor left = reshape(spread, joined(joined({in[0], groups, c, 1}, out), grid.size), at);
  const Tensor right =
      reshape(weight, joined(joined({1, groups, c, w[1]}, ones(axes)), grid.size), at);
  Shape summed{2};
  for (int i = 0; i < axes; i++) summed.push_back(4 + axes + i);
  const Tensor product = sum_of_products(left, right, summed, at);
  return finished(call, reshape(product, joined({in[0], w[1] * groups}, out), at), bias, x, axes,
                  at);
}

}  // namespace

// ---- convolutions -----------------------------------------------------------------------------

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv1d", 1, x, weight, bias, options, at);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv2d", 2, x, weight, bias, options, at);
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
              Location at) {
  return convolved("conv3d", 3, x, weight, bias, options, at);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose1d", 1, x, weight, bias, options, at);
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose2d", 2, x, weight, bias, options, at);
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTransposeOptions& options, Location at) {
  return convolved_back("conv_transpose3d", 3, x, weight, bias, options, at);
}

// ---- patches ----------------------------------------------------------------------------------

Tensor im2col(const Tensor& x, const Shape& kernel, const PatchOptions& options, Location at) {
  const Call call("im2col", {&x}, at);
  const int axes = kernel.size();
  call.require(axes > 0 && (x.ndim() == axes + 2 || x.ndim() == axes + 1),
               "a kernel of {} axes does not fit an input of {}", axes, x.ndim());
  const Tensor input = reshape(x, with_batch(x, axes), at);
  const WindowGrid grid(call, axes, kernel, options.stride, options.padding, options.dilation);
  const Tensor windows = windows_of(input, grid, 0, at);  // (n, c, out.., k..)
  Shape order{0, 1};
  for (int i = 0; i < axes; i++) order.push_back(2 + axes + i);
  for (int i = 0; i < axes; i++) order.push_back(2 + i);
  const Tensor columns = flatten(permute(windows, order, at), 2 + axes, -1, at);
  const Tensor result = flatten(columns, 1, 1 + axes, at);
  return x.ndim() == axes + 1 ? squeeze(result, 0, at) : result;
}

Tensor col2im(const Tensor& x, const Shape& size, const Shape& kernel, const PatchOptions& options,
              Location at) {
  const Call call("col2im", {&x}, at);
  const int axes = kernel.size();
  call.require(axes > 0 && size.size() == axes && (x.ndim() == 2 || x.ndim() == 3),
               "patches (n, c * kernel, count) or (c * kernel, count) of {} axes are summed", axes);
  const Tensor input = x.ndim() == 2 ? unsqueeze(x, 0, at) : x;
  const WindowGrid grid(call, axes, kernel, options.stride, options.padding, options.dilation);
  const Shape out = grid.counts(call, size, false);
  const std::int64_t channels = input.size(1) / kernel.numel();
  call.require(channels * kernel.numel() == input.size(1) && out.numel() == input.size(2),
               "the input must be (n, c * {}, {})", kernel.numel(), out.numel());
  const Tensor patches = reshape(input, joined(joined({input.size(0), channels}, kernel), out), at);
  Shape order{0, 1};
  for (int i = 0; i < axes; i++) order.push_back(2 + axes + i);
  for (int i = 0; i < axes; i++) order.push_back(2 + i);
  const Tensor result = summed_windows(permute(patches, order, at), grid, size, at);
  return x.ndim() == 2 ? squeeze(result, 0, at) : result;
}

// ---- channels and pixels ----------------------------------------------------------------------

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor, Location at) {
  const Call call("pixel_shuffle", {&x}, at);
  call.require(x.ndim() >= 3 && factor > 0 && x.size(-3) % (factor * factor) == 0,
               "the channels, axis -3, must be a multiple of {}^2", factor);
  const std::int64_t c = x.size(-3) / (factor * factor), h = x.size(-2), w = x.size(-1);
  Shape batch = x.shape();
  for (int i = 0; i < 3; i++) batch.erase(batch.size() - 1);
  const Tensor cut = reshape(x, {batch.numel(), c, factor, factor, h, w}, at);
  const Tensor order = permute(cut, {0, 1, 4, 2, 5, 3}, at);
  return reshape(order, joined(batch, {c, h * factor, w * factor}), at);
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor, Location at) {
  const Call call("pixel_unshuffle", {&x}, at);
  call.require(x.ndim() >= 3 && factor > 0 && x.size(-2) % factor == 0 && x.size(-1) % factor == 0,
               "height and width must be multiples of {}", factor);
  const std::int64_t c = x.size(-3), h = x.size(-2) / factor, w = x.size(-1) / factor;
  Shape batch = x.shape();
  for (int i = 0; i < 3; i++) batch.erase(batch.size() - 1);
  const Tensor cut = reshape(x, {batch.numel(), c, h, factor, w, factor}, at);
  const Tensor order = permute(cut, {0, 1, 3, 5, 2, 4}, at);
  return reshape(order, joined(batch, {c * factor * factor, h, w}), at);
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups, Location at) {
  const Call call("channel_shuffle", {&x}, at);
  call.require(x.ndim() >= 3 && groups > 0 && x.size(1) % groups == 0,
               "{} groups do not divide the channels, axis 1", groups);
  const Tensor cut = unflatten(x, 1, {groups, x.size(1) / groups}, at);
  return flatten(transpose(cut, 1, 2, at), 1, 2, at);
}

}  // namespace croze
