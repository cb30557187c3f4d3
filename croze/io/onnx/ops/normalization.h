// normalization.h -- normalisation over the last axes, as several operators do it.
#pragma once

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

struct Normalized {
  Tensor value;                    // of the dtype of x
  Tensor mean, inverse_deviation;  // Float32 for half types; the normalised axes are 1
};

// (x - mean) / sqrt(var + epsilon) over the axes from `axis` on, times scale, plus bias (undefined:
// 0).  Statistics of half types are in Float32.
Normalized layer_normalized(const Tensor& x, std::int64_t axis, double epsilon, const Tensor& scale,
                            const Tensor& bias);
// x / sqrt(mean(x^2) + epsilon) over the same axes, times scale; there is no mean.
Normalized rms_normalized(const Tensor& x, std::int64_t axis, double epsilon, const Tensor& scale);

}  // namespace croze::onnx
