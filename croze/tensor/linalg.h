// linalg.h -- products and convolutions.  Each is a multiplication of expanded views and a sum:
// nothing below recognises them by name.  Half types accumulate in Float32.
#pragma once

#include "tensor/tensor.h"

namespace croze {

// Matrix product over the last two axes; the others are broadcast.  A 1-D operand is a row on the
// left and a column on the right, and its axis vanishes.  Dtypes are promoted; integers keep
// theirs. Throws Error if the inner sizes differ.
Tensor matmul(const Tensor& a, const Tensor& b, Location at = Location::current());
// Sum of products of two 1-D tensors.
Tensor dot(const Tensor& a, const Tensor& b, Location at = Location::current());
// x (.., in) times the transpose of weight (out, in), plus bias (out): shape (.., out).
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Location at = Location::current());

// Vertical and horizontal; one number sets both.
struct Pair {
  std::int64_t h = 0, w = 0;
  template <Integer T>
  constexpr Pair(T both) : h(both), w(both) {}
  constexpr Pair(std::int64_t vertical, std::int64_t horizontal) : h(vertical), w(horizontal) {}
};

struct Conv2dOptions {
  Pair stride = 1;
  Pair padding = 0;  // zeros on each side
  Pair dilation = 1;
  std::int64_t groups = 1;
};

// x (n, c, h, w) with weight (out, c / groups, kh, kw) and bias (out): shape (n, out, oh, ow),
// where oh = (h + 2 * padding - dilation * (kh - 1) - 1) / stride + 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {}, Location at = Location::current());

struct Pool2dOptions {
  std::optional<Pair> stride = {};  // of the windows; the window's size if not said
  Pair padding = 0;                 // max: with the least value; average: with zeros
  Pair dilation = 1;
  bool count_include_pad = true;  // average: divide by the window's size even at the border
};

// Over the last two axes of x (.., h, w).
Tensor max_pool2d(const Tensor& x, Pair window, const Pool2dOptions& options = {},
                  Location at = Location::current());
Tensor avg_pool2d(const Tensor& x, Pair window, const Pool2dOptions& options = {},
                  Location at = Location::current());

}  // namespace croze
