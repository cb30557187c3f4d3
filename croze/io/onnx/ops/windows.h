// windows.h -- the sliding windows of convolutions and pools over any number of spatial axes, with
// ONNX's ways of saying how they are padded.
#pragma once

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

// One entry per spatial axis.  Spatial axes are those from 2 on.
struct Windows {
  Ints size, stride, dilation;
  Ints before, after;  // padding
  Ints extra;          // after the padding: what rounding the number of windows up needs

  int axes() const { return static_cast<int>(size.size()); }
  // Elements from the first to the last of a window.
  std::int64_t extent(int i) const {
    const auto k = static_cast<std::size_t>(i);
    return dilation[k] * (size[k] - 1) + 1;
  }
};

// From the attributes kernel_shape (or `size`), strides, dilations, pads, auto_pad and ceil_mode,
// for an input of this shape.
Windows windows_of(const NodeCall& call, const Shape& input, Ints size = {});

// The same for a weight (.., .., k1, ..), whose shape kernel_shape must repeat if it is there.
Windows windows_of_weight(const NodeCall& call, const Shape& input, const Tensor& weight);

// An attribute with one entry per axis, all `missing` if it is not there.
Ints per_axis(const NodeCall& call, std::string_view name, int axes, std::int64_t missing);

// Adds elements around the spatial axes; negative amounts cut off.
Tensor pad_spatial(const Tensor& x, const Ints& before, const Ints& after, Scalar value);

// x (n, c, d1, ..) padded with `value`: (n, c, o1, .., k1, ..).
Tensor cut_windows(const Tensor& x, const Windows& w, Scalar value);
// The axes of the elements of windows that cut_windows gives.
Axes window_axes(const Windows& w);

// x (n, c, d1, ..) with weight (m, c / groups, k1, ..) and a bias of m elements or none; half types
// accumulate in Float32, integers in themselves.
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& w,
                std::int64_t groups);

}  // namespace croze::onnx
