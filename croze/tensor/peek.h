// peek.h -- the values of small tensors without a kernel, where that is possible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze {

// The elements of x, row by row, as integers or as doubles; nothing where finding them takes a
// kernel: x is large, or depends on large tensors that are not computed yet.  Computing shapes with
// tensors costs nothing this way.
std::optional<std::vector<std::int64_t>> peek_integers(const Tensor& x);
std::optional<std::vector<double>> peek_numbers(const Tensor& x);

}  // namespace croze
