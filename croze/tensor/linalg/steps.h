// steps.h -- internal to tensor/: what the algorithms on matrices share.
//
// An algorithm of n steps is recorded as n copies of one step.  If the number of the step were a
// constant, each copy would be a kernel of its own to compile; so it is a tensor in memory, and all
// copies are one kernel over different buffers.  Each step ends in contiguous(), else it would be
// fused with the next.
#pragma once

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"

namespace croze {

// The number of a step as Int64 in memory, shape ().
inline Tensor step_number(std::int64_t k, const Tensor& x, Location at) {
  return Tensor::from_data({k}, {1}, beside(x), at).reshape({}, at);
}

// 0, 1, .. as a row or a column of an n x n matrix.
inline Tensor row_numbers(std::int64_t n, Location at) {
  return unsqueeze(Tensor::arange(n, {}, at), 1, at);
}
inline Tensor column_numbers(std::int64_t n, Location at) { return Tensor::arange(n, {}, at); }

// Row k, (.., 1, columns), and column k, (.., rows, 1), of a matrix.
inline Tensor row_of(const Tensor& x, const Tensor& k, Location at) {
  return index_select(x, -2, k, at);
}
inline Tensor column_of(const Tensor& x, const Tensor& k, Location at) {
  return index_select(x, -1, k, at);
}

inline Tensor transposed(const Tensor& x, Location at) { return transpose(x, -2, -1, at); }

inline void require_matrices(const Call& call, const Tensor& x) {
  call.require(x.ndim() >= 2, "a matrix has two axes");
  call.require(is_float(x.dtype()), "works on floats, not on {}", name_of(x.dtype()));
}

inline void require_square_matrices(const Call& call, const Tensor& x) {
  require_matrices(call, x);
  call.require(x.size(-1) == x.size(-2), "works on square matrices");
}

// All sizes but those of the matrix.
inline Shape batch_of(const Tensor& x) {
  const Shape shape = x.shape();
  return Shape(std::span(shape.begin(), shape.end() - 2));
}

inline Tensor identity_like(const Tensor& x, Location at) {
  return Tensor::eye(x.size(-1), -1, {.dtype = x.dtype()}, at);
}

}  // namespace croze
