// initial.h -- internal: the values that parameters start from.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze::nn {

// Parameters are computed where they are made: they have memory of their own from the start, so
// that gradients know them apart and assigning to them writes in place.
Tensor constant(const Shape& shape, double value, const TensorOptions& options, Location at);
// Uniform in [-bound, bound).
Tensor within(double bound, const Shape& shape, const TensorOptions& options, Location at);

}  // namespace croze::nn
