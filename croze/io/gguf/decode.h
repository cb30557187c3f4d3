// decode.h -- the numbers in the blocks of quantized tensors, as ordinary tensor arithmetic.
#pragma once

#include <cstdint>

#include "croze/io/gguf/ggml_type.h"
#include "croze/tensor/tensor.h"

namespace croze {

// The elements of blocks of a type that has them: (.., bytes of a block) UInt8 to (.., elements of
// a block) Float32.
Tensor decode_blocks(const Tensor& blocks, GgmlType type);

// The same as integers without a sign, and what makes numbers of them for groups of them, which are
// equally long: number = scale * (code - zero) + offset.
struct BlockCodes {
  Tensor codes;           // (.., elements of a block) UInt8
  std::int64_t zero = 0;  // of all codes
  Tensor scales;          // (.., groups of a block) Float32
  Tensor offsets;         // likewise; undefined: there are none
  std::int64_t run = 0;   // codes one after the other whose bits lie in bytes one after the other
};

// Whether the elements of a type are such integers.
bool has_codes(GgmlType type);
// Of blocks (.., bytes of a block) UInt8.
BlockCodes codes_of_blocks(const Tensor& blocks, GgmlType type);

}  // namespace croze
