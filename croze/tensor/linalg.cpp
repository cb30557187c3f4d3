// linalg.cpp -- products and convolutions as a multiplication and a sum over expanded views.
#include "tensor/linalg.h"

#include <limits>

#include "tensor/elementwise.h"
#include "tensor/functional.h"
#include "tensor/movement.h"
#include "tensor/record.h"
#include "tensor/reduce.h"

namespace croze {
namespace {

// Sum of a * b over `axes`, in the accumulator of their common dtype, returned in that dtype.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Axes& axes, Location at) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const DType wide = is_float(dtype)        ? accumulator(dtype)
                     : dtype == DType::Bool ? DType::Int64
                                            : dtype;
  return sum(a.cast(wide) * b.cast(wide), axes, false, at).cast(dtype);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Location at) {
  const Call call("matmul", {&a, &b}, at);
  call.device();
  call.require(a.ndim() > 0 && b.ndim() > 0, "operands need at least one axis");
  const Tensor left = a.ndim() == 1 ? unsqueeze(a, 0, at) : a;
  const Tensor right = b.ndim() == 1 ? unsqueeze(b, 1, at) : b;
  const std::int64_t inner = left.size(-1), rows = right.size(-2);
  call.require(inner == rows, "the inner sizes {} and {} differ", inner, rows);

  Shape batch[2] = {left.shape(), right.shape()};
  for (Shape& s : batch) {
    s.erase(s.size() - 1);
    s.erase(s.size() - 1);
  }
  call.broadcast(batch);
  // (.., m, 1, k) * (.., 1, n, k) summed over k.
  Tensor result = sum_of_products(unsqueeze(left, -2, at),
                                  unsqueeze(transpose(right, -2, -1, at), -3, at), -1, at);
  if (b.ndim() == 1) result = squeeze(result, -1, at);
  if (a.ndim() == 1) result = squeeze(result, b.ndim() == 1 ? -1 : -2, at);
  return result;
}

Tensor dot(const Tensor& a, const Tensor& b, Location at) {
  const Call call("dot", {&a, &b}, at);
  call.require(a.ndim() == 1 && b.ndim() == 1, "both operands have one axis");
  return matmul(a, b, at);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Location at) {
  const Call call("linear", {&x, &weight, &bias}, at);
  call.require(weight.ndim() == 2, "the weight has two axes: outputs and inputs");
  call.require(x.ndim() > 0 && x.size(-1) == weight.size(1),
               "the last axis of the input must have {} elements", weight.size(1));
  const Tensor product = matmul(x, transpose(weight, 0, 1, at), at);
  if (!bias.defined()) return product;
  call.require(bias.shape() == Shape{weight.size(0)}, "the bias must have {} elements",
               weight.size(0));
  return product + bias;
}

// ---- windows ----------------------------------------------------------------------------------

namespace {

// x (.., h, w) padded with `value` and cut into windows: (.., oh, ow, kh, kw).
Tensor windows_of(const Tensor& x, Pair size, Pair stride, Pair padding, Pair dilation,
                  Scalar value, Location at) {
  const Tensor padded = pad(x, {padding.w, padding.w, padding.h, padding.h}, value, at);
  const int h = x.ndim() - 2;
  return unfold(unfold(padded, h, size.h, stride.h, dilation.h, at), h + 1, size.w, stride.w,
                dilation.w, at);
}

void check_windows(const Call& call, Pair stride, Pair padding, Pair dilation) {
  call.require(stride.h > 0 && stride.w > 0, "stride ({}, {}) must be positive", stride.h,
               stride.w);
  call.require(dilation.h > 0 && dilation.w > 0, "dilation ({}, {}) must be positive", dilation.h,
               dilation.w);
  call.require(padding.h >= 0 && padding.w >= 0, "padding ({}, {}) must not be negative", padding.h,
               padding.w);
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options, Location at) {
  const Call call("conv2d", {&x, &weight, &bias}, at);
  call.device();
  call.require(x.ndim() == 4, "the input has four axes: batch, channels, height, width");
  call.require(weight.ndim() == 4, "the weight has four axes: outputs, inputs, height, width");
  const std::int64_t groups = options.groups;
  const Shape in = x.shape(), w = weight.shape();
  call.require(groups > 0 && in[1] == w[1] * groups && w[0] % groups == 0,
               "{} input and {} output channels in {} groups do not fit a weight of {} inputs",
               in[1], w[0], groups, w[1]);
  check_windows(call, options.stride, options.padding, options.dilation);
  const Tensor windows =
      windows_of(x, Pair(w[2], w[3]), options.stride, options.padding, options.dilation, 0, at);
  const std::int64_t n = in[0], oh = windows.size(2), ow = windows.size(3);
  // (n, g, 1, c, oh, ow, kh, kw) * (1, g, o, c, 1, 1, kh, kw) summed over c, kh, kw.
  const Tensor left = reshape(windows, {n, groups, 1, w[1], oh, ow, w[2], w[3]}, at);
  const Tensor right = reshape(weight, {1, groups, w[0] / groups, w[1], 1, 1, w[2], w[3]}, at);
  const Tensor out = sum_of_products(left, right, {3, 6, 7}, at);
  const Tensor result = reshape(out, {n, w[0], oh, ow}, at);
  if (!bias.defined()) return result;
  call.require(bias.shape() == Shape{w[0]}, "the bias must have {} elements", w[0]);
  return result + reshape(bias, {w[0], 1, 1}, at);
}

Tensor max_pool2d(const Tensor& x, Pair window, const Pool2dOptions& options, Location at) {
  const Call call("max_pool2d", {&x}, at);
  call.require(x.ndim() >= 2, "the input has at least two axes");
  const Pair stride = options.stride.value_or(window);
  check_windows(call, stride, options.padding, options.dilation);
  const Scalar least = is_float(x.dtype()) ? Scalar(-std::numeric_limits<double>::infinity())
                                           : Scalar(min_value(x.dtype()));
  const Tensor windows =
      windows_of(x, window, stride, options.padding, options.dilation, least, at);
  return max(windows, {-1, -2}, false, at);
}

Tensor avg_pool2d(const Tensor& x, Pair window, const Pool2dOptions& options, Location at) {
  const Call call("avg_pool2d", {&x}, at);
  call.require(x.ndim() >= 2, "the input has at least two axes");
  const Pair stride = options.stride.value_or(window);
  check_windows(call, stride, options.padding, options.dilation);
  const auto cut = [&](const Tensor& t) {
    return windows_of(t, window, stride, options.padding, options.dilation, 0, at);
  };
  if (options.count_include_pad) return mean(cut(x), {-1, -2}, false, at);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor inside = Tensor::ones_like(v, {}, at);
    return sum(cut(v), {-1, -2}, false, at) / sum(cut(inside), {-1, -2}, false, at);
  });
}

}  // namespace croze
