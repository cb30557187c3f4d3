// fields.h -- words for the layouts of blocks: fields, packed bits, little-endian numbers.
//
// All work on many blocks at once; the first axis is that of the blocks.
#pragma once

#include <cstdint>
#include <span>

#include "croze/tensor/tensor.h"

namespace croze::gguf {

// The fields of blocks, (blocks, bytes) UInt8, taken in the order in which they stand.
class Fields {
 public:
  explicit Fields(const Tensor& blocks) : blocks_(blocks) {}

  // The next bytes, (blocks, count) UInt8.
  Tensor bytes(std::int64_t count);
  // The next number, (blocks, 1) Float32, which stands there as a float16 or a float32.
  Tensor half();
  Tensor single();
  // The next numbers of 16 and 32 bits, (blocks, count).
  Tensor words(std::int64_t count);
  Tensor long_words(std::int64_t count);

 private:
  Tensor blocks_;
  std::int64_t at_ = 0;
};

// Numbers of `bits` bits out of (blocks, bytes): (blocks, bytes * 8 / bits).  The bytes are in runs
// of `run`.  Of each run come first the lowest bits of all bytes, then the next ones, and so on:
// with runs of one byte the bits in order, with one run the nibbles as most types have them.
Tensor unpacked(const Tensor& bytes, int bits, std::int64_t run);

// (x, ..) to (x, .., count): bits from first, first + step, ... on, `bits` of them.
struct BitField {
  int bits = 1;
  int step = 1;
  std::int64_t count = 1;
};
Tensor bit_fields(const Tensor& words, const BitField& field);

// Bit patterns of Float16 (UInt16) as Float32.
Tensor half_values(const Tensor& words);

// Numbers (UInt8) as Float32; of two's complement.
Tensor numbers(const Tensor& bytes);
Tensor signed_numbers(const Tensor& bytes);

// values[i] for each i of `indices`, Float32.
Tensor looked_up(std::span<const std::int8_t> values, const Tensor& indices);

// What each group of elements has in common, (blocks, groups), for each of its elements: (blocks,
// elements).
Tensor spread(const Tensor& x, std::int64_t elements);

}  // namespace croze::gguf
