// convolution.cpp -- convolutions and their transposes.
#include <algorithm>

#include "croze/io/onnx/ops/sampling.h"
#include "croze/io/onnx/ops/windows.h"

namespace croze::onnx {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Results conv(const NodeCall& call) {
  const Tensor &x = call[0], &weight = call[1];
  const Windows w = windows_of_weight(call, x.shape(), weight);
  return {convolve(x, weight, call.optional(2), w, call.integer("group", 1))};
}

// Exact: in Int32.
Results conv_integer(const NodeCall& call) {
  Tensor x = call[0].cast(DType::Int32), weight = call[1].cast(DType::Int32);
  if (call.has(2)) x = x - call[2].cast(DType::Int32).reshape({});
  if (call.has(3)) {
    const Tensor zero = call[3].cast(DType::Int32);
    weight = weight - (zero.numel() == 1 ? zero.reshape({}) : along_axis(zero, 0, weight.ndim()));
  }
  const Windows w = windows_of_weight(call, x.shape(), weight);
  return {convolve(x, weight, {}, w, call.integer("group", 1))};
}

// ---- transposed -------------------------------------------------------------------------------

// Zeros put between the elements of the spatial axes, `stride` apart.
Tensor spread(const Tensor& x, const Ints& stride) {
  Tensor result = x;
  for (int i = 0; i < static_cast<int>(stride.size()); i++) {
    const std::int64_t step = stride[at(i)], axis = 2 + i, size = result.size(axis);
    if (step == 1 || size == 0) continue;
    Shape amounts;
    for (std::int64_t k = result.ndim(); k > axis + 1; k--) {
      amounts.push_back(0);
      amounts.push_back(0);
    }
    amounts.push_back(0);
    amounts.push_back(step - 1);
    Shape shape = result.shape();
    shape[axis] = size * step;
    result = pad(result.unsqueeze(axis + 1), amounts).reshape(shape);
    result = result.narrow(axis, 0, (size - 1) * step + 1);
  }
  return result;
}

// The padding that leads to an output of this size: the odd element goes to the front unless
// auto_pad is SAME_UPPER.
void pad_to_output(const NodeCall& call, Windows& w, const Shape& input, const Ints& more) {
  const std::string_view mode = call.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Ints wanted = call.integers("output_shape");
  if (wanted.empty() && !same) return;
  if (wanted.size() == at(w.axes()) + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  check(wanted.empty() || wanted.size() == at(w.axes()), "output_shape has {} entries",
        wanted.size());
  for (int i = 0; i < w.axes(); i++) {
    const std::int64_t stride = w.stride[at(i)], size = input[2 + i];
    const std::int64_t output = wanted.empty() ? size * stride : wanted[at(i)];
    const std::int64_t total = stride * (size - 1) + more[at(i)] + w.extent(i) - output;
    // An output that is larger than needed has its zeros at the end.
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    w.before[at(i)] = mode == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    w.after[at(i)] = total - w.before[at(i)];
  }
}

// The transposed convolution is a convolution of the spread input with the flipped weight.
Results conv_transpose(const NodeCall& call) {
  const Tensor &x = call[0], &weight = call[1];  // weight (c, m / groups, k..)
  const Shape ws = weight.shape();
  const std::int64_t groups = call.integer("group", 1);
  Windows w = windows_of_weight(call, x.shape(), weight);
  const Ints more = per_axis(call, "output_padding", w.axes(), 0);
  check(groups > 0 && ws[0] == x.size(1) && ws[0] % groups == 0,
        "{} input channels, a weight for {}, {} groups", x.size(1), ws[0], groups);
  if (call.text("auto_pad", "NOTSET").starts_with("SAME")) {
    w.before = w.after = Ints(at(w.axes()), 0);
  }
  pad_to_output(call, w, x.shape(), more);
  const Tensor wide = spread(x, w.stride);
  for (int i = 0; i < w.axes(); i++) {
    w.before[at(i)] = w.extent(i) - 1 - w.before[at(i)];
    w.after[at(i)] = w.extent(i) - 1 - w.after[at(i)] + more[at(i)];
    w.stride[at(i)] = 1;
  }
  // (g, c / g, m / g, k..) -> (m, c / g, k..)
  Shape split{groups, ws[0] / groups, ws[1]}, merged{groups * ws[1], ws[0] / groups};
  Ints flipped;
  for (int i = 0; i < w.axes(); i++) {
    split.push_back(ws[2 + i]);
    merged.push_back(ws[2 + i]);
    flipped.push_back(3 + i);
  }
  Tensor turned = weight.reshape(split);
  if (!flipped.empty()) turned = turned.flip(Axes(flipped));
  turned = turned.transpose(1, 2).reshape(merged);
  return {convolve(wide, turned, call.optional(2), w, groups)};
}

// ---- columns to images ------------------------------------------------------------------------

// Elements of blocks added where they come from: the transpose of cutting windows.
Results col2im(const NodeCall& call) {
  const Ints image = call.integers(1), block = call.integers(2);
  const int axes = static_cast<int>(image.size());
  check(axes > 0 && block.size() == image.size() && call[0].ndim() == 3,
        "blocks of {} axes in an image of {}", block.size(), image.size());
  const Ints stride = per_axis(call, "strides", axes, 1);
  const Ints dilation = per_axis(call, "dilations", axes, 1);
  const Ints pads = per_axis(call, "pads", 2 * axes, 0);
  std::int64_t elements = 1, padded_elements = 1;
  // The place in the padded image of element k of block b, as (k.., b..) flattened.
  Tensor place = Tensor::zeros(Shape(), {.dtype = DType::Int64});
  Ints padded;
  for (int i = 0; i < axes; i++) {
    const std::int64_t size = image[at(i)] + pads[at(i)] + pads[at(i + axes)];
    const std::int64_t extent = dilation[at(i)] * (block[at(i)] - 1) + 1;
    check(stride[at(i)] > 0 && size >= extent && extent > 0, "blocks of {} do not fit into {}",
          extent, size);
    const std::int64_t count = (size - extent) / stride[at(i)] + 1;
    const Tensor inside = along_axis(Tensor::arange(block[at(i)]) * dilation[at(i)], i, 2 * axes);
    const Tensor outside = along_axis(Tensor::arange(count) * stride[at(i)], axes + i, 2 * axes);
    place = place * size + (inside + outside);
    elements *= block[at(i)];
    padded_elements *= size;
    padded.push_back(size);
  }
  const Tensor& x = call[0];
  const std::int64_t n = x.size(0), blocks = x.size(2);
  check(x.size(1) % elements == 0 && place.numel() == elements * blocks,
        "a tensor of shape {} does not hold blocks of {}", to_text(x.shape()), elements);
  const std::int64_t channels = x.size(1) / elements;
  const Tensor source = x.reshape({n * channels, elements * blocks});
  const Tensor index = place.reshape({1, elements * blocks}).expand(source.shape());
  const Tensor base = Tensor::zeros({n * channels, padded_elements}, {.dtype = x.dtype()});
  Shape shape{n, channels};
  for (std::int64_t size : padded) shape.push_back(size);
  Tensor result = scatter_add(base, 1, index, source).reshape(shape);
  Ints before, after;
  for (int i = 0; i < axes; i++) {
    before.push_back(-pads[at(i)]);
    after.push_back(-pads[at(i + axes)]);
  }
  return {pad_spatial(result, before, after, 0)};
}

// ---- deformable -------------------------------------------------------------------------------

// Every element of every window is read at its place plus an offset, between the elements.
Results deform_conv(const NodeCall& call) {
  const Tensor &x = call[0], &weight = call[1], &offset = call[2];
  const Windows w = windows_of_weight(call, x.shape(), weight);
  check(w.axes() == 2, "an input of shape {}: two spatial axes are supported", to_text(x.shape()));
  const std::int64_t n = x.size(0), c = x.size(1), kh = w.size[0], kw = w.size[1];
  const std::int64_t oh = offset.size(2), ow = offset.size(3);
  const std::int64_t offset_groups = call.integer("offset_group", 1);
  check(
      offset_groups > 0 && c % offset_groups == 0 && offset.size(1) == offset_groups * kh * kw * 2,
      "{} offsets for {} groups of {} x {}", offset.size(1), offset_groups, kh, kw);
  const DType dtype = x.dtype();
  // offset (n, og, kh, kw, 2, oh, ow); places (n, og, kh, kw, oh, ow)
  const Tensor moved = offset.reshape({n, offset_groups, kh, kw, 2, oh, ow});
  const auto base = [&](int axis, std::int64_t windows, std::int64_t elements) {
    const Tensor begin = Tensor::arange(windows) * w.stride[at(axis)] - w.before[at(axis)];
    const Tensor inside = Tensor::arange(elements) * w.dilation[at(axis)];
    return along_axis(begin, 4 + axis, 6) + along_axis(inside, 2 + axis, 6);
  };
  const Tensor ys = base(0, oh, kh).cast(dtype) + moved.narrow(4, 0, 1).squeeze(4);
  const Tensor xs = base(1, ow, kw).cast(dtype) + moved.narrow(4, 1, 1).squeeze(4);
  const std::int64_t groups = n * offset_groups, per_group = c / offset_groups;
  const Tensor image = x.reshape({groups, per_group, x.size(2), x.size(3)});
  const std::int64_t points = kh * kw * oh * ow;
  Tensor sampled =
      sample_bilinear(image, {ys.reshape({groups, points}), xs.reshape({groups, points})});
  sampled = sampled.reshape({n, offset_groups, per_group, kh, kw, oh, ow});
  if (call.has(4)) {
    sampled = sampled * call[4].reshape({n, offset_groups, 1, kh, kw, oh, ow});
  }
  // As windows that are cut already: (n, c, oh, ow, kh, kw) laid out side by side.
  const Tensor tiles = sampled.reshape({n, c, kh, kw, oh, ow})
                           .permute({0, 1, 4, 2, 5, 3})
                           .reshape({n, c, oh * kh, ow * kw});
  Windows side_by_side = w;
  side_by_side.stride = w.size;
  side_by_side.dilation = {1, 1};
  side_by_side.before = side_by_side.after = side_by_side.extra = {0, 0};
  return {convolve(tiles, weight, call.optional(3), side_by_side, call.integer("group", 1))};
}

// clang-format off
constexpr Operator table[] = {
  {"Col2Im", 18, col2im},
  {"Conv", 1, conv},
  {"ConvInteger", 10, conv_integer},
  {"ConvTranspose", 1, conv_transpose},
  {"DeformConv", 19, deform_conv},
};
// clang-format on

}  // namespace

std::span<const Operator> convolution_operators() { return table; }

}  // namespace croze::onnx
