// int8_product.h -- products with packed weights in integers.
#pragma once

#include "croze/io/gguf/gguf.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

// Whether int8_product() takes this weight, whose elements are integers with a scale (has_codes),
// and so many inputs are multiplied faster by it than with decoded weights.
bool multiplies_in_int8(const GgufTensor& weight, std::int64_t inputs);

// x (n, in) times the weight (out, in), (n, out).  Of each 32 numbers of x, one after the other,
// the largest in size becomes 127 and the others what is nearest to their part of it, so that each
// is off by 1/254 of the largest at most; integers are multiplied and added up without error, and
// the sums of groups of weights, scaled, in Float32.
Tensor int8_product(const Tensor& x, const GgufTensor& weight);

}  // namespace croze::llm
