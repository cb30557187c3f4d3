// layouts_basic.cpp -- blocks of 32 elements with one scale d, and an offset m if the numbers have
// no sign.
#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::gguf {

Tensor q4_0(Fields block) {
  const Tensor d = block.half();
  const Tensor q = unpacked(block.bytes(16), 4, 16);
  return d * (numbers(q) - 8);
}

Tensor q4_1(Fields block) {
  const Tensor d = block.half(), m = block.half();
  const Tensor q = unpacked(block.bytes(16), 4, 16);
  return d * numbers(q) + m;
}

// The fifth bits of all elements stand before the other four.
Tensor q5_0(Fields block) {
  const Tensor d = block.half();
  const Tensor high = unpacked(block.bytes(4), 1, 1), low = unpacked(block.bytes(16), 4, 16);
  return d * (numbers(low | (high << 4)) - 16);
}

Tensor q5_1(Fields block) {
  const Tensor d = block.half(), m = block.half();
  const Tensor high = unpacked(block.bytes(4), 1, 1), low = unpacked(block.bytes(16), 4, 16);
  return d * numbers(low | (high << 4)) + m;
}

Tensor q8_0(Fields block) {
  const Tensor d = block.half();
  return signed_numbers(block.bytes(32)) * d;
}

Tensor q8_1(Fields block) {
  const Tensor d = block.half();
  block.half();  // d times the sum of the elements, for products
  return signed_numbers(block.bytes(32)) * d;
}

}  // namespace croze::gguf
