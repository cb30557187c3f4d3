// sampling.h -- images read between their elements.
#pragma once

#include <vector>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

// x (n, c, d1, .., dk) at points whose coordinates, in elements, are k integer tensors (n, p):
// (n, c, p).  Zero outside of the image.
Tensor sample_at(const Tensor& x, const std::vector<Tensor>& coordinates);

// The same at real coordinates: the elements around, weighted by nearness.
Tensor sample_bilinear(const Tensor& x, const std::vector<Tensor>& coordinates);

}  // namespace croze::onnx
