// indexing.h -- elements chosen by position: basic indices (views) and integer tensors (gathers).
#pragma once

#include "tensor/tensor.h"

namespace croze {

// x[i, j, ...] with integers, Slices, None, Ellipsis and integer tensors, as in PyTorch: integers
// drop their axis, tensors are broadcast together and their axes stand where the first tensor
// stood, or in front if a slice separates them.  Host integers out of range throw Error; elements
// of index tensors count from the end when negative, and give zero when out of range.
Tensor index(const Tensor& x, std::span<const TensorIndex> indices,
             Location at = Location::current());

// x[.., index, ..]: one position per element of `index` along `axis`; other axes of `index` may be
// smaller than those of x.  Shape of index.  Out of range gives zero.
Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index,
              Location at = Location::current());
// The same with `index` broadcast against the other axes of x.
Tensor take_along_dim(const Tensor& x, const Tensor& index, std::int64_t axis,
                      Location at = Location::current());
// The slices of x along `axis` at the positions of a 1-D index.
Tensor index_select(const Tensor& x, std::int64_t axis, const Tensor& index,
                    Location at = Location::current());
// Rows of weight (n, d) for an index of any shape: shape (index.shape, d).
Tensor embedding(const Tensor& weight, const Tensor& index, Location at = Location::current());
// Int64, shape (index.shape, classes): 1 at the class.
Tensor one_hot(const Tensor& index, std::int64_t classes, Location at = Location::current());

// x with source[..] written to, or added at, position index[..] along `axis`.  `source` is a tensor
// at least as large as `index`, or a number.  Where positions repeat, scatter keeps the last in row
// order. Positions out of range are skipped.  Dtype of x.
Tensor scatter(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source);
Tensor scatter_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source);

}  // namespace croze
