// ops.h -- what the families of operators share.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/base/error.h"
#include "croze/io/onnx/node_call.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"

namespace croze::onnx {

using Ints = std::vector<std::int64_t>;

// An integer tensor of one axis.
inline Tensor vector_of(const Ints& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

// A vector along one axis of a tensor of `rank` axes: shape (1, .., n, .., 1).
Tensor along_axis(const Tensor& vector, std::int64_t axis, int rank);

// Negative positions count from the end.
Tensor from_the_end(const Tensor& index, std::int64_t size);

// Slices of x along `axis` at positions that are known now.
Tensor take_positions(const Tensor& x, std::int64_t axis, const Ints& positions);

// Computed in Float32 if x is a half type, and returned in the dtype of x.
template <typename F>
Tensor in_float32(const Tensor& x, F f) {
  if (!is_half(x.dtype())) return f(x);
  return f(x.cast(DType::Float32)).cast(x.dtype());
}

// The quotient of integers rounded towards zero; of floats the quotient.
Tensor divide(const Tensor& a, const Tensor& b);

// 0, 1, ..., rank - 1.
Ints all_axes(int rank);

// The axes of the `axes` attribute or, from the opset `by_input` on, of input 1; positive and
// ascending.  All if there are none.
Ints axes_of(const NodeCall& call, int by_input, int rank);

}  // namespace croze::onnx
