// layouts_basic.cpp -- blocks of 32 elements with one scale d, and an offset m if the numbers have
// no sign.
#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::gguf {

BlockCodes q4_0(Fields block) {
  const Tensor d = block.half();
  return {
      .codes = unpacked(block.bytes(16), 4, 16), .zero = 8, .scales = d, .offsets = {}, .run = 16};
}

BlockCodes q4_1(Fields block) {
  const Tensor d = block.half(), m = block.half();
  return {.codes = unpacked(block.bytes(16), 4, 16), .scales = d, .offsets = m, .run = 16};
}

// The fifth bits of all elements stand before the other four.
BlockCodes q5_0(Fields block) {
  const Tensor d = block.half();
  const Tensor high = unpacked(block.bytes(4), 1, 1), low = unpacked(block.bytes(16), 4, 16);
  return {.codes = low | (high << 4), .zero = 16, .scales = d, .offsets = {}, .run = 1};
}

BlockCodes q5_1(Fields block) {
  const Tensor d = block.half(), m = block.half();
  const Tensor high = unpacked(block.bytes(4), 1, 1), low = unpacked(block.bytes(16), 4, 16);
  return {.codes = low | (high << 4), .scales = d, .offsets = m, .run = 1};
}

Tensor q8_0(Fields block) {
  const Tensor d = block.half();
  return signed_numbers(block.bytes(32)) * d;
}

// The sign turned over is 128 more.
BlockCodes q8_0_codes(Fields block) {
  const Tensor d = block.half();
  return {.codes = block.bytes(32) ^ 128, .zero = 128, .scales = d, .offsets = {}, .run = 32};
}

Tensor q8_1(Fields block) {
  const Tensor d = block.half();
  block.half();  // d times the sum of the elements, for products
  return signed_numbers(block.bytes(32)) * d;
}

}  // namespace croze::gguf
