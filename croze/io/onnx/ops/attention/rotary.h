// rotary.h -- rotary embeddings: heads turned by angles that stand for positions.
#pragma once

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

// x of shape (batch, heads, length, width) with the first 2 * n of its width rotated in pairs, by
// angles whose cosines and sines are (batch, length, n).  Pairs are neighbours if `interleaved`,
// else n apart.
Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool interleaved);

// Rows of a table (rows, n) at positions (batch, length): (batch, length, n).
Tensor rows_at(const Tensor& table, const Tensor& positions);

}  // namespace croze::onnx
