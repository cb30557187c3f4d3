// fields.cpp -- fields of blocks by movements, shifts and masks.
#include "croze/io/gguf/fields.h"

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::gguf {
namespace {

// Bytes, (blocks, n * width), to little-endian numbers, (blocks, n).
Tensor little_endian(const Tensor& bytes, std::int64_t width, DType dtype) {
  const Tensor groups = bytes.reshape({bytes.size(0), bytes.size(1) / width, width}).cast(dtype);
  Tensor number = groups.select(2, 0);
  for (std::int64_t i = 1; i < width; i++) number = number | (groups.select(2, i) << (8 * i));
  return number;
}

}  // namespace

Tensor Fields::bytes(std::int64_t count) {
  Tensor field = blocks_.narrow(1, at_, count);
  at_ += count;
  return field;
}

Tensor Fields::words(std::int64_t count) {
  return little_endian(bytes(2 * count), 2, DType::UInt16);
}

Tensor Fields::long_words(std::int64_t count) {
  return little_endian(bytes(4 * count), 4, DType::UInt32);
}

Tensor Fields::half() { return half_values(words(1)); }

Tensor Fields::single() { return long_words(1).bitcast(DType::Float32); }

Tensor half_values(const Tensor& words) {
  return words.bitcast(DType::Float16).cast(DType::Float32);
}

Tensor unpacked(const Tensor& bytes, int bits, std::int64_t run) {
  const std::int64_t blocks = bytes.size(0), fields = 8 / bits, runs = bytes.size(1) / run;
  const Tensor shifts = (Tensor::arange(fields, DType::UInt8) * bits).reshape({fields, 1});
  const Tensor parts = bytes.reshape({blocks, runs, 1, run}) >> shifts;
  return (parts & ((1 << bits) - 1)).reshape({blocks, bytes.size(1) * fields});
}

Tensor bit_fields(const Tensor& words, const BitField& field) {
  const Tensor shifts = Tensor::arange(field.count, words.dtype()) * field.step;
  return (words.unsqueeze(-1) >> shifts) & ((1 << field.bits) - 1);
}

Tensor numbers(const Tensor& bytes) { return bytes.cast(DType::Float32); }

Tensor signed_numbers(const Tensor& bytes) { return numbers(bytes.bitcast(DType::Int8)); }

Tensor looked_up(std::span<const std::int8_t> values, const Tensor& indices) {
  const Tensor table =
      Tensor::from_data(values, {std::ssize(values)}, {.device = indices.device()});
  return numbers(take(table, indices.cast(DType::Int32)));
}

Tensor spread(const Tensor& x, std::int64_t elements) {
  const std::int64_t blocks = x.size(0), groups = x.size(1);
  return x.unsqueeze(2).expand({blocks, groups, elements / groups}).reshape({blocks, elements});
}

}  // namespace croze::gguf
