// layouts_k.cpp -- the k-quants: blocks of 256 elements in groups of 16 or 32, each group with a
// scale of few bits, and maybe an offset, that the scales of the block multiply.
#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"

namespace croze::gguf {
namespace {

// Eight scales and eight offsets of 6 bits, in 12 bytes: the lower four of each in bytes 0..3 and
// 4..7.  Of the upper ones the low four bits are in the nibbles of 8..11, the high two on top of
// the lower ones.
struct ScalesAndOffsets {
  explicit ScalesAndOffsets(const Tensor& bytes) {
    const Tensor a = bytes.narrow(1, 0, 4), b = bytes.narrow(1, 4, 4), c = bytes.narrow(1, 8, 4);
    scales = numbers(cat({a & 63, (c & 15) | ((a >> 2) & 48)}, 1));
    offsets = numbers(cat({b & 63, (c >> 4) | ((b >> 2) & 48)}, 1));
  }
  Tensor scales, offsets;  // (blocks, 8) Float32
};

}  // namespace

BlockCodes q2_k(Fields block) {
  const Tensor scales = block.bytes(16);
  const Tensor q = unpacked(block.bytes(64), 2, 32);
  const Tensor d = block.half(), dmin = block.half();
  return {.codes = q,
          .scales = d * numbers(scales & 15),
          .offsets = -(dmin * numbers(scales >> 4)),
          .run = 32};
}

BlockCodes q3_k(Fields block) {
  const Tensor high = unpacked(block.bytes(32), 1, 32), low = unpacked(block.bytes(64), 2, 32);
  const Tensor low_scales = unpacked(block.bytes(8), 4, 8);
  const Tensor high_scales = unpacked(block.bytes(4), 2, 4);
  const Tensor d = block.half();
  const Tensor scales = numbers(low_scales | (high_scales << 4)) - 32;
  return {.codes = low | (high << 2), .zero = 4, .scales = d * scales, .offsets = {}, .run = 32};
}

BlockCodes q4_k(Fields block) {
  const Tensor d = block.half(), dmin = block.half();
  const ScalesAndOffsets parts(block.bytes(12));
  const Tensor q = unpacked(block.bytes(128), 4, 32);
  return {.codes = q, .scales = d * parts.scales, .offsets = -(dmin * parts.offsets), .run = 32};
}

BlockCodes q5_k(Fields block) {
  const Tensor d = block.half(), dmin = block.half();
  const ScalesAndOffsets parts(block.bytes(12));
  const Tensor high = unpacked(block.bytes(32), 1, 32), low = unpacked(block.bytes(128), 4, 32);
  return {.codes = low | (high << 4),
          .scales = d * parts.scales,
          .offsets = -(dmin * parts.offsets),
          .run = 32};
}

BlockCodes q6_k(Fields block) {
  const Tensor low = unpacked(block.bytes(128), 4, 64), high = unpacked(block.bytes(64), 2, 32);
  const Tensor scales = signed_numbers(block.bytes(16));
  const Tensor d = block.half();
  return {.codes = low | (high << 4), .zero = 32, .scales = d * scales, .offsets = {}, .run = 32};
}

// Behind the elements stand their sums by 16, for products.
Tensor q8_k(Fields block) {
  const Tensor d = block.single();
  return d * signed_numbers(block.bytes(256));
}

}  // namespace croze::gguf
