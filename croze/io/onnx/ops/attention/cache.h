// cache.h -- caches of keys and values that are written row by row.
#pragma once

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {

// A cache whose rows along `axis` from begin[i] on, for sample i of the batch (axis 0), are those
// of the update.  Rows that would lie outside are dropped, or begin anew if `circular`.
Tensor with_rows(const Tensor& cache, const Tensor& update, std::int64_t axis, const Tensor& begin,
                 bool circular = false);

}  // namespace croze::onnx
