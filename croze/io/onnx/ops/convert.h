// convert.h -- conversions with ONNX's choices.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze::onnx {

// x as an 8-bit float.  Out of range: the greatest value if `saturate`, else infinity where the
// type has one and NaN where it has not.
Tensor to_float8(const Tensor& x, DType dtype, bool saturate);

}  // namespace croze::onnx
