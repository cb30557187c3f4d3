// pooling.cpp -- maxima, means and norms over windows, and over everything.
#include <limits>
#include <numeric>

#include "croze/io/onnx/ops/windows.h"

namespace croze::onnx {
namespace {

Scalar least_of(DType dtype) {
  return is_float(dtype) ? Scalar(-std::numeric_limits<double>::infinity())
                         : Scalar(min_value(dtype));
}

// The place in x, in row order of the whole tensor, of the greatest element of each window.
Tensor greatest_places(const Tensor& x, const Windows& w, bool column_major) {
  const Shape s = x.shape();
  // Every element's own place, cut into the same windows.
  Tensor place = Tensor::arange(s[0] * s[1]).reshape({s[0], s[1]});
  for (int i = 0; i < w.axes(); i++) place = place.unsqueeze(-1);
  std::int64_t spatial = 1;
  for (int i = 0; i < w.axes(); i++) spatial *= s[2 + i];
  place = place * spatial;
  std::int64_t stride = 1;
  for (int k = 0; k < w.axes(); k++) {
    const int i = column_major ? k : w.axes() - 1 - k;
    place = place + along_axis(Tensor::arange(s[2 + i]), 2 + i, s.size()) * stride;
    stride *= s[2 + i];
  }
  const Tensor values = cut_windows(x, w, least_of(x.dtype()));
  const Tensor places = cut_windows(place.expand(s), w, 0);
  const int first = 2 + w.axes();
  const Tensor best = argmax(values.flatten(first), -1, true);
  return gather(places.flatten(first), -1, best).squeeze(-1);
}

Results max_pool(const NodeCall& call) {
  const Tensor& x = call[0];
  const Windows w = windows_of(call, x.shape());
  const Tensor values = max(cut_windows(x, w, least_of(x.dtype())), window_axes(w));
  if (!call.wants(1)) return {values};
  return {values, greatest_places(x, w, call.flag("storage_order"))};
}

Results average_pool(const NodeCall& call) {
  const Tensor& x = call[0];
  const Windows w = windows_of(call, x.shape());
  return {in_float32(x, [&](const Tensor& v) {
    // The padding counts if it is asked for, what rounding up adds never does.
    Tensor ones = Tensor::ones_like(v.narrow(0, 0, 1).narrow(1, 0, 1));
    Windows rest = w;
    if (call.flag("count_include_pad")) {
      ones = pad_spatial(ones, w.before, w.after, 1);
      rest.before = rest.after = Ints(w.size.size(), 0);
    }
    const Tensor counts = sum(cut_windows(ones, rest, 0), window_axes(w));
    return sum(cut_windows(v, w, 0), window_axes(w)) / counts;
  })};
}

// (sum |x|^p)^(1/p)
Tensor p_norm(const Tensor& x, const Axes& axes, double p, bool keepdim) {
  if (p == 1) return sum(abs(x), axes, keepdim);
  if (p == 2) return sqrt(sum(square(x), axes, keepdim));
  return pow(sum(pow(abs(x), p), axes, keepdim), 1 / p);
}

double power_of(const NodeCall& call) {
  return call.version() < 2 ? call.real("p", 2) : static_cast<double>(call.integer("p", 2));
}

Results lp_pool(const NodeCall& call) {
  const Windows w = windows_of(call, call[0].shape());
  return {in_float32(call[0], [&](const Tensor& x) {
    return p_norm(cut_windows(x, w, 0), window_axes(w), power_of(call), false);
  })};
}

// ---- over all spatial axes --------------------------------------------------------------------

Axes spatial_axes(const Tensor& x) {
  check(x.ndim() > 2, "an input of {} axes", x.ndim());
  Ints axes(static_cast<std::size_t>(x.ndim() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return Axes(axes);
}

Results global_average(const NodeCall& call) {
  return {mean(call[0], spatial_axes(call[0]), true)};
}

Results global_max(const NodeCall& call) { return {max(call[0], spatial_axes(call[0]), true)}; }

Results global_lp(const NodeCall& call) {
  return {in_float32(
      call[0], [&](const Tensor& x) { return p_norm(x, spatial_axes(x), power_of(call), true); })};
}

// ---- MaxUnpool --------------------------------------------------------------------------------

// Values put back to the places that MaxPool gave.
Results max_unpool(const NodeCall& call) {
  const Tensor &x = call[0], &places = call[1];
  const int axes = x.ndim() - 2;
  const Ints size = call.integers("kernel_shape");
  check(axes > 0 && static_cast<int>(size.size()) == axes, "a window of {} axes", size.size());
  const Ints stride = per_axis(call, "strides", axes, 1);
  const Ints pads = per_axis(call, "pads", 2 * axes, 0);
  Shape shape{x.size(0), x.size(1)};
  for (int i = 0; i < axes; i++) {
    const auto k = static_cast<std::size_t>(i);
    shape.push_back((x.size(2 + i) - 1) * stride[k] + size[k] - pads[k] -
                    pads[k + static_cast<std::size_t>(axes)]);
  }
  const Tensor base = Tensor::zeros({shape.numel()}, {.dtype = x.dtype()});
  const Tensor result = scatter(base, 0, places.flatten(), x.flatten()).reshape(shape);
  if (!call.has(2)) return {result};
  const Ints wanted = call.integers(2);
  check(static_cast<int>(wanted.size()) == x.ndim(), "an output shape of {} axes", wanted.size());
  Ints more;
  for (int i = 0; i < axes; i++) {
    more.push_back(wanted[static_cast<std::size_t>(i) + 2] - shape[2 + i]);
  }
  return {pad_spatial(result, Ints(more.size(), 0), more, 0)};
}

// clang-format off
constexpr Operator table[] = {
  {"AveragePool", 1, average_pool},
  {"GlobalAveragePool", 1, global_average},
  {"GlobalLpPool", 1, global_lp},
  {"GlobalMaxPool", 1, global_max},
  {"LpPool", 1, lp_pool},
  {"MaxPool", 1, max_pool},
  {"MaxUnpool", 9, max_unpool},
};
// clang-format on

}  // namespace

std::span<const Operator> pooling_operators() { return table; }

}  // namespace croze::onnx
