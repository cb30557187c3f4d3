// decode.h -- the numbers in the blocks of quantized tensors, as ordinary tensor arithmetic.
#pragma once

#include "croze/io/gguf/ggml_type.h"
#include "croze/tensor/tensor.h"

namespace croze {

// The elements of blocks of a type that has them: (.., bytes of a block) UInt8 to (.., elements of
// a block) Float32.
Tensor decode_blocks(const Tensor& blocks, GgmlType type);

}  // namespace croze
