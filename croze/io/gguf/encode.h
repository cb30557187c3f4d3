// encode.h -- numbers as the blocks of ggml's types: the way back from decode.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "croze/io/gguf/ggml_type.h"

namespace croze {

// The types that encode_blocks() knows, in the order of the table: F32, F16, BF16, Q4_0, Q4_1,
// Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K and MXFP4.
std::vector<GgmlType> encodable_types();

// Writes numbers as blocks of `type`: whole blocks of finite numbers, and as many bytes as they
// take.  F16, BF16 and blocks of 32 are to the bit what ggml's own package writes; Q4_K, Q5_K and
// Q6_K have a search of their own (encoders_k.cpp).
//
// Throws Error for numbers that are not finite or beyond what the type can hold (scales are
// float16), and for a type that it does not know.
void encode_blocks(std::span<const float> values, GgmlType type, std::span<std::byte> blocks);

}  // namespace croze
