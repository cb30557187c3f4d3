// encoders_basic.cpp -- numbers as such and blocks of 32 elements with one scale, by the arithmetic
// of ggml's reference, so that every bit agrees.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "croze/io/gguf/encoders.h"

namespace croze::gguf {
namespace {

constexpr std::size_t size = 32;
using Levels = std::array<unsigned, size>;

// 1 / d; none for what has no finite inverse: all such elements round to zero.
float inverse(float d) {
  const float result = 1 / d;
  return std::isfinite(result) ? result : 0;
}

// The element of the largest magnitude, the first of such.
float extreme(std::span<const float> x) {
  return *std::ranges::max_element(x, {}, [](float v) { return std::abs(v); });
}

// Levels of x / d, moved by `zero` and rounded.
Levels levels_of(std::span<const float> x, float least, float d, float zero, unsigned highest) {
  const float id = inverse(d);
  Levels q{};
  for (std::size_t i = 0; i < size; i++) {
    const float level = (x[i] - least) * id + zero;
    // Of elements as large as floats get the difference may be none, and the level no number.
    q[i] = level > 0 ? std::min(static_cast<unsigned>(level), highest) : 0;
  }
  return q;
}

// The lower four bits: element i in the low nibble of byte i, element i + 16 in the high one.
void write_nibbles(const Levels& q, BlockWriter& block) {
  for (std::size_t i = 0; i < size / 2; i++) {
    block.byte((q[i] & 15u) | (q[i + size / 2] & 15u) << 4u);
  }
}

void write_fifth_bits(const Levels& q, BlockWriter& block) {
  for (std::size_t first = 0; first < size; first += 8) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < 8; i++) bits |= (q[first + i] >> 4u) << i;
    block.byte(bits);
  }
}

// The extreme element gets the lowest level, which is one further from zero than the highest.
struct Symmetric {
  Symmetric(std::span<const float> x, unsigned half)
      : d(extreme(x) / -static_cast<float>(half)),
        q(levels_of(x, 0, d, static_cast<float>(half) + 0.5f, 2 * half - 1)) {}
  float d;
  Levels q;
};

// From the least element at level 0 to the largest at the highest.
struct Affine {
  Affine(std::span<const float> x, unsigned highest)
      : m(*std::ranges::min_element(x)),
        d((*std::ranges::max_element(x) - m) / static_cast<float>(highest)),
        q(levels_of(x, m, d, 0.5f, highest)) {}
  float m, d;
  Levels q;
};

}  // namespace

void encode_f32(std::span<const float> x, BlockWriter block) { block.single(x[0]); }

void encode_f16(std::span<const float> x, BlockWriter block) { block.half(x[0]); }

void encode_bf16(std::span<const float> x, BlockWriter block) {
  const std::uint32_t bits = encode_small_float(bf16_format, static_cast<double>(x[0]));
  block.byte(bits & 0xffu);
  block.byte(bits >> 8u);
}

void encode_q4_0(std::span<const float> x, BlockWriter block) {
  const Symmetric s(x, 8);
  block.half(s.d);
  write_nibbles(s.q, block);
}

void encode_q4_1(std::span<const float> x, BlockWriter block) {
  const Affine a(x, 15);
  block.half(a.d);
  block.half(a.m);
  write_nibbles(a.q, block);
}

void encode_q5_0(std::span<const float> x, BlockWriter block) {
  const Symmetric s(x, 16);
  block.half(s.d);
  write_fifth_bits(s.q, block);
  write_nibbles(s.q, block);
}

void encode_q5_1(std::span<const float> x, BlockWriter block) {
  const Affine a(x, 31);
  block.half(a.d);
  block.half(a.m);
  write_fifth_bits(a.q, block);
  write_nibbles(a.q, block);
}

void encode_q8_0(std::span<const float> x, BlockWriter block) {
  const float d = std::abs(extreme(x)) / 127;
  const float id = inverse(d);
  block.half(d);
  for (float v : x) block.byte(static_cast<unsigned>(static_cast<int>(std::round(v * id))));
}

// Elements are half a power of two, d, times one of eight magnitudes and a sign.  d is such that
// the extreme element lies in the upper binade of the magnitudes.
void encode_mxfp4(std::span<const float> x, BlockWriter block) {
  constexpr std::array<float, 8> magnitudes{0, 1, 2, 3, 4, 6, 8, 12};
  const float largest = std::abs(extreme(x));
  // Below 2^-125 the exponent would be negative; its least is zero.
  const float log = largest > 0 ? std::floor(std::log2(largest)) - 2 + 127 : 0;
  const auto exponent = static_cast<int>(std::max(log, 0.0f));
  const float d = std::ldexp(1.0f, exponent - 128);
  Levels q{};
  for (std::size_t i = 0; i < size; i++) {
    float best = std::numeric_limits<float>::infinity();
    for (unsigned level = 0; level < 16; level++) {
      const float value = level < 8 ? d * magnitudes[level] : -d * magnitudes[level - 8];
      const float error = std::abs(value - x[i]);
      if (error < best) q[i] = level;
      best = std::min(error, best);
    }
  }
  block.byte(static_cast<unsigned>(exponent));
  write_nibbles(q, block);
}

}  // namespace croze::gguf
