// windows.h -- internal to tensor/: windows that slide over spatial axes, for convolution and
// pooling.
#pragma once

#include "croze/tensor/network/conv.h"
#include "croze/tensor/record.h"

namespace croze {

// Windows of `size` over the last axes of a tensor.
struct WindowGrid {
  Shape size, stride, before, after, dilation;  // before, after: padding

  WindowGrid(const Call& call, int axes, const Shape& window, const PerAxis& step,
             const PerAxis& padding, const PerAxis& spread)
      : size(window),
        stride(step.for_axes(call, axes, "stride", 1)),
        before(padding.for_axes(call, axes, "padding", 0)),
        after(before),
        dilation(spread.for_axes(call, axes, "dilation", 1)) {
    for (std::int64_t s : size) call.require(s > 0, "a window of size {}", s);
  }

  // Elements from the first to the last of a window.
  std::int64_t reach(int axis) const { return dilation[axis] * (size[axis] - 1) + 1; }

  // How many windows fit axes of these lengths.  With `ceil` also one that overhangs the end, if it
  // begins inside or in the padding before.
  Shape counts(const Call& call, const Shape& length, bool ceil) const {
    Shape result;
    for (int i = 0; i < size.size(); i++) {
      const std::int64_t room = length[i] + before[i] + after[i] - reach(i);
      call.require(room >= 0, "a window of {} does not fit axis {} of size {}", reach(i), i,
                   length[i]);
      std::int64_t count = room / stride[i] + 1;
      if (ceil && room % stride[i] != 0 && count * stride[i] < length[i] + before[i]) count++;
      result.push_back(count);
    }
    return result;
  }
};

// x (.., spatial) padded with `border`, cut into windows: (.., counts, size).
Tensor windows_of(const Tensor& x, const WindowGrid& grid, Scalar border, Location at);
// Its transpose: windows (.., counts, size) summed where they overlap, to spatial axes of `length`.
Tensor summed_windows(const Tensor& windows, const WindowGrid& grid, const Shape& length,
                      Location at);

}  // namespace croze
