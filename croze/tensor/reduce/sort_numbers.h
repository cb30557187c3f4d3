// sort_numbers.h -- order among 64-bit numbers that are all different, in parallel kernels.
#pragma once

#include "croze/base/function_ref.h"
#include "croze/tensor/tensor.h"

namespace croze {

// The numbers along the last axis of x (rows, n), Int64 and less than INT64_MAX, ascending.
Tensor sorted_numbers(const Tensor& x, Location at);

// The number of each element of x (rows, n), whose low 32 bits are its place (rows or 1, n).
using NumberOf = function_ref<Tensor(const Tensor& x, const Tensor& place)>;

// The k least numbers of elements along the last axis of x (rows, n), ascending.
Tensor least_numbers(const Tensor& x, std::int64_t k, NumberOf number_of, Location at);

}  // namespace croze
