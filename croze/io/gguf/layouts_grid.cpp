// layouts_grid.cpp -- blocks of 256 elements whose bits are indices of points of a grid.  A point
// has four or eight elements; where the grid has no signs (iq2, iq3), a byte of signs goes with
// eight elements.
#include <array>
#include <span>
#include <vector>

#include "croze/io/gguf/grids.h"
#include "croze/io/gguf/layouts.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::gguf {
namespace {

constexpr std::int64_t elements = 256;

constexpr std::array<std::int8_t, 3> iq1_levels = {-1, 0, 1};
constexpr std::array<std::int8_t, 3> iq2_levels = {8, 25, 43};
constexpr std::array<std::int8_t, 8> iq3_xxs_levels = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr std::array<std::int8_t, 8> iq3_s_levels = {1, 3, 5, 7, 9, 11, 13, 15};

// The points of these indices, (blocks, n): their elements, (blocks, 256) Float32.  `levels` are
// the numbers that the bits of a point choose from.
Tensor points(std::span<const std::uint16_t> grid, std::int64_t point_elements,
              std::span<const std::int8_t> levels, const Tensor& indices) {
  const auto bits = static_cast<unsigned>(16 / point_elements);
  std::vector<std::int8_t> table;
  for (const unsigned point : grid) {
    for (unsigned at = 0; at < 16; at += bits) {
      table.push_back(levels[(point >> at) & ((1u << bits) - 1)]);
    }
  }
  const Tensor rows =
      Tensor::from_data(table, {std::ssize(grid), point_elements}, {.device = indices.device()});
  const Tensor chosen = index_select(rows, 0, indices.flatten().cast(DType::Int32));
  return numbers(chosen).reshape({indices.size(0), elements});
}

// Of each bit of (blocks, 32) bytes -1 if it is set and 1 if not: (blocks, 256) Float32.
Tensor signs(const Tensor& bytes) { return 1 - numbers(unpacked(bytes, 1, 1)) * 2; }

// Seven signs and an eighth that makes the number of minus signs even.
Tensor even_signs(const Tensor& seven) {
  Tensor parity = seven ^ (seven >> 4);
  parity = parity ^ (parity >> 2);
  parity = (parity ^ (parity >> 1)) & 1;
  return signs((seven | (parity << 7)).cast(DType::UInt8));
}

// Four times seven signs, and four bits above them that belong to the scale: words of 32 bits,
// (blocks, 8).
Tensor signs_of(const Tensor& words) {
  return even_signs(bit_fields(words, {.bits = 7, .step = 7, .count = 4}).flatten(1));
}

// (d * (0.5 + s)) * quarter-or-half, in the order of ggml.
Tensor half_scales(const Tensor& d, const Tensor& s, double factor) {
  return d * (numbers(s) + 0.5) * factor;
}

// Of 16 or 32 elements each.
Tensor spread(const Tensor& x) { return gguf::spread(x, elements); }

// By how much the grid is moved: down where the bit is set, else up.
Tensor shift_by(const Tensor& bit) { return spread(where(bit != 0, -0.125, 0.125)); }

}  // namespace

// A word has three bits more for each of four indices, the scale of 32 elements and, on top, where
// the grid is moved.
Tensor iq1_s(Fields block) {
  const Tensor d = block.half();
  const Tensor low = block.bytes(32), words = block.words(8);
  const Tensor high = bit_fields(words, {.bits = 3, .step = 3, .count = 4}).flatten(1);
  const Tensor values = points(iq1_grid, 8, iq1_levels, low | (high << 8));
  const Tensor scales = d * numbers(((words >> 12) & 7) * 2 + 1);
  return spread(scales) * (values + shift_by(words >> 15));
}

// A nibble has three bits more of an index, and where the grid is moved.  A word has four scales of
// three bits; what is on top of the four words is the scale of the block, a nibble each.
Tensor iq1_m(Fields block) {
  const Tensor low = block.bytes(32), high = unpacked(block.bytes(16), 4, 1);
  const Tensor words = block.words(4);
  const Tensor top = words >> 12;
  const auto nibble = [&](int i) { return top.narrow(1, i, 1) << (4 * i); };
  const Tensor d = half_values(nibble(0) | nibble(1) | nibble(2) | nibble(3));
  const Tensor indices = low | ((high & 7).cast(DType::UInt16) << 8);
  const Tensor values = points(iq1_grid, 8, iq1_levels, indices);
  const Tensor scales = bit_fields(words, {.bits = 3, .step = 3, .count = 4}).flatten(1);
  return spread(d * numbers(scales * 2 + 1)) * (values + shift_by(high & 8));
}

// Of 32 elements four indices, and a word of signs and the scale.
Tensor iq2_xxs(Fields block) {
  const Tensor d = block.half();
  const Tensor words = block.long_words(16).reshape({-1, 8, 2});
  const Tensor indices = bit_fields(words.select(2, 0), {.bits = 8, .step = 8, .count = 4});
  const Tensor values = points(iq2_xxs_grid, 8, iq2_levels, indices.flatten(1));
  const Tensor rest = words.select(2, 1);
  return spread(half_scales(d, rest >> 28, 0.25)) * values * signs_of(rest);
}

// Of eight elements a word: nine bits of index, seven signs.
Tensor iq2_xs(Fields block) {
  const Tensor d = block.half();
  const Tensor words = block.words(32);
  const Tensor scales = half_scales(d, unpacked(block.bytes(8), 4, 1), 0.25);
  const Tensor values = points(iq2_xs_grid, 8, iq2_levels, words & 511);
  return spread(scales) * values * even_signs(words >> 9);
}

Tensor iq2_s(Fields block) {
  const Tensor d = block.half();
  const Tensor low = block.bytes(32), minus = block.bytes(32);
  const Tensor high = unpacked(block.bytes(8), 2, 1).cast(DType::UInt16);
  const Tensor scales = half_scales(d, unpacked(block.bytes(8), 4, 1), 0.25);
  const Tensor values = points(iq2_s_grid, 8, iq2_levels, low | (high << 8));
  return spread(scales) * values * signs(minus);
}

Tensor iq3_xxs(Fields block) {
  const Tensor d = block.half();
  const Tensor indices = block.bytes(64), words = block.long_words(8);
  const Tensor values = points(iq3_xxs_grid, 4, iq3_xxs_levels, indices);
  return spread(half_scales(d, words >> 28, 0.5)) * values * signs_of(words);
}

Tensor iq3_s(Fields block) {
  const Tensor d = block.half();
  const Tensor low = block.bytes(64), high = unpacked(block.bytes(8), 1, 1).cast(DType::UInt16);
  const Tensor minus = block.bytes(32);
  const Tensor scales = d * numbers(unpacked(block.bytes(4), 4, 1) * 2 + 1);
  const Tensor values = points(iq3_s_grid, 4, iq3_s_levels, low | (high << 8));
  return spread(scales) * values * signs(minus);
}

}  // namespace croze::gguf
