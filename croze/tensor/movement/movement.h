// movement.h -- functions that rearrange elements.  None computes or copies: a movement becomes
// index arithmetic in the kernel that reads it.
//
// Axes may be negative, counting from the end.  All throw Error for an axis out of range and for
// shapes that do not fit.
#pragma once

#include "croze/tensor/tensor.h"

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

// The transpose of unfold, without adding up: element k of window o goes to position
// o * step + k * dilation of its own copy of an axis of `length`: (.., windows, .., size) to
// (.., length, .., size), zero elsewhere.
Tensor unwindow(const Tensor& x, std::int64_t axis, std::int64_t length, std::int64_t step,
                std::int64_t dilation = 1, Location at = Location::current());

// ---- axes moved -------------------------------------------------------------------------------

// Axes taken out and put in at these places of the result, the others keeping their order.
Tensor movedim(const Tensor& x, const Axes& from, const Axes& to,
               Location at = Location::current());
// An axis cut in several; one size may be -1.
Tensor unflatten(const Tensor& x, std::int64_t axis, const Shape& sizes,
                 Location at = Location::current());
// With axes of size 1 in front (atleast_3d: around) until there are so many.
Tensor atleast_1d(const Tensor& x, Location at = Location::current());
Tensor atleast_2d(const Tensor& x, Location at = Location::current());
Tensor atleast_3d(const Tensor& x, Location at = Location::current());
// All expanded to the shape that they broadcast to.
std::vector<Tensor> broadcast_tensors(std::span<const Tensor> tensors,
                                      Location at = Location::current());
// Elements moved along axes by so many places, those that leave coming in at the other end; without
// axes, of the flattened tensor.
Tensor roll(const Tensor& x, const Shape& shifts, const Axes& axes = {},
            Location at = Location::current());
// Turned by k right angles in the plane of two axes, from the first to the second.
Tensor rot90(const Tensor& x, std::int64_t k = 1, std::int64_t a = 0, std::int64_t b = 1,
             Location at = Location::current());

// ---- repeated ---------------------------------------------------------------------------------

// repeat, for as many of the last axes as there are numbers.
Tensor tile(const Tensor& x, const Shape& times, Location at = Location::current());
// Each element repeated, along an axis or in the flattened tensor; by a number of its own each if
// `times` is a tensor, which is computed.
Tensor repeat_interleave(const Tensor& x, std::int64_t times, std::optional<std::int64_t> axis = {},
                         Location at = Location::current());
Tensor repeat_interleave(const Tensor& x, const Tensor& times,
                         std::optional<std::int64_t> axis = {}, Location at = Location::current());
// 1-D tensors expanded to a common grid: with axis i for tensor i, or (xy) the first two exchanged.
enum class MeshIndexing { IJ, XY };
std::vector<Tensor> meshgrid(std::span<const Tensor> tensors,
                             MeshIndexing indexing = MeshIndexing::IJ,
                             Location at = Location::current());
// All combinations of the elements of 1-D tensors, one per row.
Tensor cartesian_prod(std::span<const Tensor> tensors, Location at = Location::current());

// ---- joined and cut ---------------------------------------------------------------------------

// cat along axis 1 (0 for 1-D tensors), axis 0, axis 2 of tensors with at least 1, 2, 3 axes; 1-D
// tensors as columns.
Tensor hstack(std::span<const Tensor> tensors, Location at = Location::current());
Tensor vstack(std::span<const Tensor> tensors, Location at = Location::current());
Tensor dstack(std::span<const Tensor> tensors, Location at = Location::current());
Tensor column_stack(std::span<const Tensor> tensors, Location at = Location::current());
// Matrices along the diagonal of a matrix of zeros.
Tensor block_diag(std::span<const Tensor> tensors, Location at = Location::current());
// The slices along an axis, which vanishes.
std::vector<Tensor> unbind(const Tensor& x, std::int64_t axis = 0,
                           Location at = Location::current());
// So many parts, the first ones larger by one where needed; or the parts between these positions.
std::vector<Tensor> tensor_split(const Tensor& x, std::int64_t sections, std::int64_t axis = 0,
                                 Location at = Location::current());
std::vector<Tensor> tensor_split(const Tensor& x, const Shape& positions, std::int64_t axis = 0,
                                 Location at = Location::current());

// ---- diagonals --------------------------------------------------------------------------------

// The elements (i, i + offset) of the plane of two axes, as a new last axis.
Tensor diagonal(const Tensor& x, std::int64_t offset = 0, std::int64_t a = 0, std::int64_t b = 1,
                Location at = Location::current());
// A matrix, in the plane of two axes of the result, with the last axis of x on a diagonal.
Tensor diag_embed(const Tensor& x, std::int64_t offset = 0, std::int64_t a = -2,
                  std::int64_t b = -1, Location at = Location::current());
// diagonal of a matrix, diag_embed of a vector; and diag of the flattened tensor.
Tensor diag(const Tensor& x, std::int64_t offset = 0, Location at = Location::current());
Tensor diagflat(const Tensor& x, std::int64_t offset = 0, Location at = Location::current());
// x with zeros below (triu) or above (tril) the given diagonal of the last two axes.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0, Location at = Location::current());
Tensor tril(const Tensor& x, std::int64_t diagonal = 0, Location at = Location::current());

// Int64 (2, count): the rows and columns of the triangle of a matrix.
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                    Location at = Location::current());
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                    Location at = Location::current());

// ---- borders ----------------------------------------------------------------------------------

// pad that continues x beyond its border: mirrored at the outermost element, by that element, or
// from the other end.  Throws Error where there are not enough elements to mirror or continue with.
enum class PadMode { Constant, Reflect, Replicate, Circular };
Tensor pad(const Tensor& x, const Shape& amounts, PadMode mode, Scalar value = 0,
           Location at = Location::current());

}  // namespace croze
