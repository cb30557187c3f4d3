// encoders.h -- how each type of block is made of its elements.
//
// The functions have the names of the types.  They take the elements of one block, all finite, and
// write its bytes in the order of the structs of ggml (ggml-common.h).  Zeros become zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "croze/base/half.h"

namespace croze::gguf {

// The bytes of a block, written one field after the other.
class BlockWriter {
 public:
  explicit BlockWriter(std::span<std::byte> block) : block_(block) {}

  void byte(unsigned value) { block_[at_++] = static_cast<std::byte>(value); }
  void half(float value) {
    const std::uint16_t bits = f16_from(value);
    byte(bits & 0xffu);
    byte(bits >> 8u);
  }
  void single(float value) {
    std::memcpy(&block_[at_], &value, sizeof(value));
    at_ += sizeof(value);
  }

 private:
  std::span<std::byte> block_;
  std::size_t at_ = 0;
};

// Blocks of one element, and blocks of 32 elements with a scale, and maybe an offset
// (encoders_basic.cpp).
void encode_f32(std::span<const float> x, BlockWriter block);
void encode_f16(std::span<const float> x, BlockWriter block);
void encode_bf16(std::span<const float> x, BlockWriter block);
void encode_q4_0(std::span<const float> x, BlockWriter block);
void encode_q4_1(std::span<const float> x, BlockWriter block);
void encode_q5_0(std::span<const float> x, BlockWriter block);
void encode_q5_1(std::span<const float> x, BlockWriter block);
void encode_q8_0(std::span<const float> x, BlockWriter block);
void encode_mxfp4(std::span<const float> x, BlockWriter block);

// Blocks of 256 whose groups have scales of few bits (encoders_k.cpp).
void encode_q4_k(std::span<const float> x, BlockWriter block);
void encode_q5_k(std::span<const float> x, BlockWriter block);
void encode_q6_k(std::span<const float> x, BlockWriter block);

}  // namespace croze::gguf
