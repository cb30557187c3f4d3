// windows.cpp -- windows are movements of the input; a convolution is a product with them and a
// sum.
#include "croze/io/onnx/ops/windows.h"

#include <algorithm>

namespace croze::onnx {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// SAME_UPPER and SAME_LOWER: as many windows as input elements over the stride, rounded up.
void pad_to_same(Windows& w, const Shape& input, bool upper) {
  for (int i = 0; i < w.axes(); i++) {
    const std::int64_t size = input[2 + i], stride = w.stride[at(i)];
    const std::int64_t count = (size + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>((count - 1) * stride + w.extent(i) - size, 0);
    w.before[at(i)] = upper ? total / 2 : total - total / 2;
    w.after[at(i)] = total - w.before[at(i)];
  }
}

// A last window that is not whole counts if it begins before the padding at the end.
void round_up(Windows& w, const Shape& input) {
  for (int i = 0; i < w.axes(); i++) {
    const std::int64_t stride = w.stride[at(i)];
    const std::int64_t length = w.before[at(i)] + input[2 + i] + w.after[at(i)];
    const std::int64_t room = length - w.extent(i);
    if (room < 0 || room % stride == 0) continue;
    const std::int64_t begin = (room / stride + 1) * stride;
    if (begin < w.before[at(i)] + input[2 + i]) w.extra[at(i)] = begin + w.extent(i) - length;
  }
}

}  // namespace

Ints per_axis(const NodeCall& call, std::string_view name, int axes, std::int64_t missing) {
  Ints list = call.integers(name);
  if (list.empty()) list.assign(at(axes), missing);
  check(static_cast<int>(list.size()) == axes, "{} has {} entries for {} axes", name, list.size(),
        axes);
  return list;
}

Windows windows_of(const NodeCall& call, const Shape& input, Ints size) {
  const int axes = input.size() - 2;
  check(axes >= 0, "an input of {} axes", input.size());
  Windows w;
  w.size = call.integers("kernel_shape");
  if (w.size.empty()) w.size = std::move(size);
  check(static_cast<int>(w.size.size()) == axes, "a window of {} axes for an input of shape {}",
        w.size.size(), to_text(input));
  w.stride = per_axis(call, "strides", axes, 1);
  w.dilation = per_axis(call, "dilations", axes, 1);
  for (int i = 0; i < axes; i++) {
    check(w.size[at(i)] > 0 && w.stride[at(i)] > 0 && w.dilation[at(i)] > 0,
          "a window of {}, stride {}, dilation {}", w.size[at(i)], w.stride[at(i)],
          w.dilation[at(i)]);
  }
  const Ints pads = per_axis(call, "pads", 2 * axes, 0);
  w.before.assign(pads.begin(), pads.begin() + axes);
  w.after.assign(pads.begin() + axes, pads.end());
  w.extra.assign(at(axes), 0);
  const std::string_view mode = call.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") pad_to_same(w, input, mode == "SAME_UPPER");
  if (mode == "VALID") w.before = w.after = Ints(at(axes), 0);
  if (call.flag("ceil_mode")) round_up(w, input);
  return w;
}

Windows windows_of_weight(const NodeCall& call, const Shape& input, const Tensor& weight) {
  const Shape shape = weight.shape();
  check(shape.size() == input.size() && shape.size() >= 2,
        "a weight of shape {} for an input of shape {}", to_text(shape), to_text(input));
  const Ints size(shape.begin() + 2, shape.end());
  Windows w = windows_of(call, input, size);
  check(w.size == size, "kernel_shape differs from the weight's shape {}", to_text(shape));
  return w;
}

Tensor pad_spatial(const Tensor& x, const Ints& before, const Ints& after, Scalar value) {
  Shape amounts;
  for (std::size_t i = before.size(); i-- > 0;) {
    amounts.push_back(before[i]);
    amounts.push_back(after[i]);
  }
  return pad(x, amounts, value);
}

Tensor cut_windows(const Tensor& x, const Windows& w, Scalar value) {
  Ints after = w.after;
  for (std::size_t i = 0; i < after.size(); i++) after[i] += w.extra[i];
  Tensor result = pad_spatial(x, w.before, after, value);
  for (int i = 0; i < w.axes(); i++) {
    check(result.size(2 + i) >= w.extent(i), "a window of {} does not fit into {} elements",
          w.extent(i), result.size(2 + i));
    result = unfold(result, 2 + i, w.size[at(i)], w.stride[at(i)], w.dilation[at(i)]);
  }
  return result;
}

Axes window_axes(const Windows& w) {
  Ints axes;
  for (int i = 0; i < w.axes(); i++) axes.push_back(-1 - i);
  return Axes(axes);
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& w,
                std::int64_t groups) {
  const Shape in = x.shape(), ws = weight.shape();
  check(groups > 0 && in[1] == ws[1] * groups && ws[0] % groups == 0,
        "{} input and {} output channels in {} groups do not fit a weight of {} inputs", in[1],
        ws[0], groups, ws[1]);
  const int axes = w.axes();
  const DType dtype = x.dtype();
  const DType wide = is_float(dtype) ? accumulator(dtype) : dtype;
  const Tensor cut = cut_windows(x, w, 0);
  // (n, g, 1, c, o.., k..) * (g, m, c, 1.., k..) summed over c and k.
  Shape left{in[0], groups, 1, ws[1]}, right{groups, ws[0] / groups, ws[1]}, out{in[0], ws[0]};
  Ints summed{3};
  for (int i = 0; i < axes; i++) {
    left.push_back(cut.size(2 + i));
    right.push_back(1);
    out.push_back(cut.size(2 + i));
  }
  for (int i = 0; i < axes; i++) {
    left.push_back(ws[2 + i]);
    right.push_back(ws[2 + i]);
    summed.push_back(4 + axes + i);
  }
  const Tensor product = cut.reshape(left).cast(wide) * weight.reshape(right).cast(wide);
  Tensor result = sum(product, Axes(summed)).reshape(out).cast(dtype);
  if (bias.defined()) result = result + along_axis(bias, 1, x.ndim());
  return result;
}

}  // namespace croze::onnx
