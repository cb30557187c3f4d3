// movement.h -- functions that rearrange elements.  None computes or copies: a movement becomes
// index arithmetic in the kernel that reads it.
//
// Axes may be negative, counting from the end.  All throw Error for an axis out of range and for
// shapes that do not fit.
#pragma once

#include "tensor/tensor.h"

namespace croze {

// The same elements, row by row, in another shape; one size may be -1.  view is the same function.
Tensor reshape(const Tensor& x, const Shape& shape, Location at = Location::current());
// Axes of size 1 repeated to `shape`, which may have more axes in front; -1 keeps a size.
Tensor expand(const Tensor& x, const Shape& shape, Location at = Location::current());
// Axis k of the result is axis order[k] of x.
Tensor permute(const Tensor& x, const Shape& order, Location at = Location::current());
// Two axes exchanged.
Tensor transpose(const Tensor& x, std::int64_t a = -2, std::int64_t b = -1,
                 Location at = Location::current());
// Axes reversed.
Tensor flip(const Tensor& x, const Axes& axes, Location at = Location::current());

// Positions begin .. begin + length - 1 of an axis; a Slice of it; {begin, end} per axis.
Tensor narrow(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t length,
              Location at = Location::current());
Tensor slice(const Tensor& x, std::int64_t axis, const Slice& slice,
             Location at = Location::current());
Tensor shrink(const Tensor& x, std::span<const std::pair<std::int64_t, std::int64_t>> bounds,
              Location at = Location::current());
// Elements added around x: {before, after} of the last axis, then of the one before it, ... as in
// PyTorch.  Negative amounts cut off.
Tensor pad(const Tensor& x, const Shape& amounts, Scalar value = 0,
           Location at = Location::current());

// Tensors joined along an axis; other axes must agree.  Dtypes are promoted.
Tensor cat(std::span<const Tensor> tensors, std::int64_t axis = 0,
           Location at = Location::current());
Tensor cat(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
           Location at = Location::current());
// Tensors of one shape joined along a new axis.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0,
             Location at = Location::current());
Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
             Location at = Location::current());
// Parts of `size` (the last may be smaller), of the given sizes (which must add up), or `chunks`
// parts of equal size (the last may be smaller).
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis = 0,
                          Location at = Location::current());
std::vector<Tensor> split(const Tensor& x, const Shape& sizes, std::int64_t axis = 0,
                          Location at = Location::current());
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t axis = 0,
                          Location at = Location::current());

// Without the axis if its size is 1; without every axis of size 1.
Tensor squeeze(const Tensor& x, std::optional<std::int64_t> axis = {},
               Location at = Location::current());
// With a new axis of size 1 at this place of the result.
Tensor unsqueeze(const Tensor& x, std::int64_t axis, Location at = Location::current());
// Axes first..last merged into one.
Tensor flatten(const Tensor& x, std::int64_t first = 0, std::int64_t last = -1,
               Location at = Location::current());
// x repeated `times` per axis, which may have more axes in front.
Tensor repeat(const Tensor& x, const Shape& times, Location at = Location::current());
// Windows of `size` along an axis, `step` apart (and their elements `dilation` apart), as a new
// last axis: shape (.., windows, .., size).
Tensor unfold(const Tensor& x, std::int64_t axis, std::int64_t size, std::int64_t step,
              std::int64_t dilation = 1, Location at = Location::current());

// x with zeros below (triu) or above (tril) the given diagonal of the last two axes.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0, Location at = Location::current());
Tensor tril(const Tensor& x, std::int64_t diagonal = 0, Location at = Location::current());

}  // namespace croze
