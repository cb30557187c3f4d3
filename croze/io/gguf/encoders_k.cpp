// encoders_k.cpp -- the k-quants: scales, offsets and levels with a small squared error.
//
// An element of group g is d * scale[g] * level - dmin * offset[g] (Q6_K has no offsets).  Levels
// that are best for given factors are found by rounding, factors that are best for given levels by
// least squares; neither finds the best of both.  So for each group several first guesses are
// improved by taking turns, with factors of any precision.  Then come the factors of few bits: the
// neighbours of each are tried, d and dmin fitted to what was chosen, and so again; the best block
// that was seen is kept.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "croze/io/gguf/encoders.h"

namespace croze::gguf {
namespace {

constexpr std::size_t block_size = 256;
constexpr int turns = 3;  // of neighbours and least squares over a block
constexpr float infinity = std::numeric_limits<float>::infinity();

using Elements = std::span<const float>;

// What a float16 makes of a number.
float as_half(double x) { return f16_to_float(f16_from(x)); }

float ratio(float a, float b) { return b == 0 ? 0 : a / b; }

// ---- scale and offset -------------------------------------------------------------------------

constexpr std::size_t affine_groups = 8, affine_size = 32;
constexpr float highest_factor = 63;

// The whole number that is nearest, of one that is not negative; 0 where elements are so large that
// it is none.
float whole(float level) {
  return level > 0 ? static_cast<float>(static_cast<int>(level + 0.5f)) : 0;
}

struct AffineGroup {
  float scale = 0, offset = 0;  // of an element: scale * level - offset
  std::array<float, affine_size> levels{};
};

// Rounds to levels; returns the squared error.
float take_levels(Elements x, float highest, AffineGroup& group) {
  const float inverse = ratio(1, group.scale);
  float error = 0;
  for (std::size_t i = 0; i < affine_size; i++) {
    const float level = std::clamp((x[i] + group.offset) * inverse, 0.0f, highest);
    group.levels[i] = whole(level);
    const float difference = group.scale * group.levels[i] - group.offset - x[i];
    error += difference * difference;
  }
  return error;
}

// The best scale and offset for the levels; an offset is not negative.
void fit(Elements x, AffineGroup& group) {
  constexpr float n = affine_size;
  float q1 = 0, q2 = 0, x1 = 0, xq = 0;
  for (std::size_t i = 0; i < affine_size; i++) {
    const float q = group.levels[i];
    q1 += q;
    q2 += q * q;
    x1 += x[i];
    xq += x[i] * q;
  }
  const float determinant = n * q2 - q1 * q1;
  group.scale = ratio(n * xq - q1 * x1, determinant);
  group.offset = determinant == 0 ? -x1 / n : ratio(q1 * xq - q2 * x1, determinant);
  if (group.offset >= 0 && group.scale >= 0) return;
  group.offset = 0;
  group.scale = std::max(ratio(xq, q2), 0.0f);
}

// First guesses are that the range takes a level more or less than there are.
AffineGroup best_group(Elements x, float highest) {
  const float low = std::min(0.0f, *std::ranges::min_element(x));
  const float range = *std::ranges::max_element(x) - low;
  AffineGroup best;
  float least = infinity;
  for (int guess = -8; guess <= 8; guess++) {
    AffineGroup group;
    group.scale = range / (highest + 0.125f * static_cast<float>(guess));
    group.offset = -low;
    take_levels(x, highest, group);
    for (int turn = 0; turn < 2; turn++) {
      fit(x, group);
      const float error = take_levels(x, highest, group);
      if (error < least) best = group;
      least = std::min(error, least);
    }
  }
  return best;
}

struct AffineBlock {
  float d = 0, dmin = 0;
  std::array<float, affine_groups> scales{}, offsets{};  // whole numbers to 63
  std::array<AffineGroup, affine_groups> groups;
};

Elements group_of(Elements x, std::size_t g) { return x.subspan(g * affine_size, affine_size); }

// The best factors of a group among the neighbours of what its own factors would be.
float take_factors(Elements x, float highest, AffineBlock& block, std::size_t g) {
  const AffineGroup wanted = block.groups[g];
  const auto nearest = [](float a, float b) {
    return std::clamp(std::round(ratio(a, b)), 0.0f, highest_factor);
  };
  const float scale = nearest(wanted.scale, block.d), offset = nearest(wanted.offset, block.dmin);
  float least = infinity;
  for (float s = std::max(scale - 1, 0.0f); s <= std::min(scale + 1, highest_factor); s++) {
    for (float o = std::max(offset - 1, 0.0f); o <= std::min(offset + 1, highest_factor); o++) {
      AffineGroup group;
      group.scale = block.d * s;
      group.offset = block.dmin * o;
      const float error = take_levels(x, highest, group);
      if (error >= least) continue;
      least = error;
      block.groups[g] = group;
      block.scales[g] = s;
      block.offsets[g] = o;
    }
  }
  return least;
}

// The best d and dmin for the factors and levels.
void fit(Elements x, AffineBlock& block) {
  double a2 = 0, ab = 0, b2 = 0, ax = 0, bx = 0;  // x = d * a - dmin * b
  for (std::size_t g = 0; g < affine_groups; g++) {
    for (std::size_t i = 0; i < affine_size; i++) {
      const double a = block.scales[g] * block.groups[g].levels[i], b = block.offsets[g];
      const double value = x[g * affine_size + i];
      a2 += a * a;
      ab += a * b;
      b2 += b * b;
      ax += a * value;
      bx += b * value;
    }
  }
  const double determinant = a2 * b2 - ab * ab;
  const double d = (b2 * ax - ab * bx) / determinant, dmin = (ab * ax - a2 * bx) / determinant;
  if (determinant > 0 && d > 0 && dmin > 0) {
    block.d = as_half(d);
    block.dmin = as_half(dmin);
  } else if (a2 > 0) {  // d alone, for example where no group has an offset
    block.d = as_half(std::max((ax + static_cast<double>(block.dmin) * ab) / a2, 0.0));
  }
}

AffineBlock best_affine(Elements x, float highest) {
  AffineBlock first;
  for (std::size_t g = 0; g < affine_groups; g++) {
    first.groups[g] = best_group(group_of(x, g), highest);
    first.d = std::max(first.d, first.groups[g].scale);
    first.dmin = std::max(first.dmin, first.groups[g].offset);
  }
  AffineBlock best;
  float least = infinity;
  for (float largest = highest_factor; largest > highest_factor - 8; largest -= 1.5f) {
    AffineBlock block = first;  // its largest scale is to have this factor
    block.d = as_half(first.d / largest);
    block.dmin = as_half(first.dmin / highest_factor);
    for (int turn = 0; turn < turns; turn++) {
      float error = 0;
      for (std::size_t g = 0; g < affine_groups; g++) {
        error += take_factors(group_of(x, g), highest, block, g);
      }
      if (error < least) best = block;
      least = std::min(error, least);
      fit(x, block);
    }
  }
  return best;
}

unsigned level(const AffineBlock& block, std::size_t g, std::size_t i) {
  return static_cast<unsigned>(block.groups[g].levels[i]);
}

// Eight scales and eight offsets of 6 bits in 12 bytes, as layouts_k.cpp reads them.
void write_factors(const AffineBlock& block, BlockWriter& writer) {
  const auto scale = [&](std::size_t g) { return static_cast<unsigned>(block.scales[g]); };
  const auto offset = [&](std::size_t g) { return static_cast<unsigned>(block.offsets[g]); };
  for (std::size_t g = 0; g < 4; g++) writer.byte(scale(g) | (scale(g + 4) >> 4u) << 6u);
  for (std::size_t g = 0; g < 4; g++) writer.byte(offset(g) | (offset(g + 4) >> 4u) << 6u);
  for (std::size_t g = 4; g < 8; g++) writer.byte((scale(g) & 15u) | (offset(g) & 15u) << 4u);
}

void write_low_bits(const AffineBlock& block, BlockWriter& writer) {
  for (std::size_t g = 0; g < affine_groups; g += 2) {
    for (std::size_t i = 0; i < affine_size; i++) {
      writer.byte((level(block, g, i) & 15u) | (level(block, g + 1, i) & 15u) << 4u);
    }
  }
}

// ---- scale alone ------------------------------------------------------------------------------

constexpr std::size_t linear_groups = 16, linear_size = 16;
constexpr float least_level = -32, highest_level = 31;

struct LinearGroup {
  float scale = 0;  // of either sign
  std::array<float, linear_size> levels{};
};

float take_levels(Elements x, LinearGroup& group) {
  const float inverse = ratio(1, group.scale);
  float error = 0;
  for (std::size_t i = 0; i < linear_size; i++) {
    const float level = std::clamp(x[i] * inverse, least_level, highest_level) - least_level;
    group.levels[i] = whole(level) + least_level;
    const float difference = group.scale * group.levels[i] - x[i];
    error += difference * difference;
  }
  return error;
}

void fit(Elements x, LinearGroup& group) {
  float q2 = 0, xq = 0;
  for (std::size_t i = 0; i < linear_size; i++) {
    q2 += group.levels[i] * group.levels[i];
    xq += x[i] * group.levels[i];
  }
  group.scale = ratio(xq, q2);
}

// First guesses take the extreme element to about the lowest level, which is one further from zero
// than the highest.
LinearGroup best_group(Elements x) {
  const float extreme = *std::ranges::max_element(x, {}, [](float v) { return std::abs(v); });
  LinearGroup best;
  float least = infinity;
  for (int guess = -8; guess <= 8; guess++) {
    LinearGroup group;
    group.scale = extreme / (least_level + 0.125f * static_cast<float>(guess));
    take_levels(x, group);
    for (int turn = 0; turn < 2; turn++) {
      fit(x, group);
      const float error = take_levels(x, group);
      if (error < least) best = group;
      least = std::min(error, least);
    }
  }
  return best;
}

struct LinearBlock {
  float d = 0;
  std::array<float, linear_groups> scales{};  // whole numbers of eight bits with a sign
  std::array<LinearGroup, linear_groups> groups;
};

float take_factor(Elements x, LinearBlock& block, std::size_t g) {
  constexpr float lowest = -128, highest = 127;
  const float wanted = ratio(block.groups[g].scale, block.d);
  const float nearest = std::clamp(std::round(wanted), lowest, highest);
  float least = infinity;
  for (float s = std::max(nearest - 1, lowest); s <= std::min(nearest + 1, highest); s++) {
    LinearGroup group;
    group.scale = block.d * s;
    const float error = take_levels(x, group);
    if (error >= least) continue;
    least = error;
    block.groups[g] = group;
    block.scales[g] = s;
  }
  return least;
}

void fit(Elements x, LinearBlock& block) {
  double a2 = 0, ax = 0;
  for (std::size_t i = 0; i < block_size; i++) {
    const std::size_t g = i / linear_size;
    const double a = block.scales[g] * block.groups[g].levels[i % linear_size];
    a2 += a * a;
    ax += a * static_cast<double>(x[i]);
  }
  if (a2 > 0) block.d = as_half(ax / a2);
}

LinearBlock best_linear(Elements x) {
  LinearBlock block;
  for (std::size_t g = 0; g < linear_groups; g++) {
    block.groups[g] = best_group(x.subspan(g * linear_size, linear_size));
    const float scale = block.groups[g].scale;
    if (std::abs(scale) > std::abs(block.d)) block.d = scale;
  }
  block.d = as_half(block.d / -128);
  LinearBlock best;
  float least = infinity;
  for (int turn = 0; turn < turns; turn++) {
    float error = 0;
    for (std::size_t g = 0; g < linear_groups; g++) {
      error += take_factor(x.subspan(g * linear_size, linear_size), block, g);
    }
    if (error >= least) break;
    least = error;
    best = block;
    fit(x, block);
  }
  return best;
}

unsigned level(const LinearBlock& block, std::size_t i) {
  return static_cast<unsigned>(block.groups[i / linear_size].levels[i % linear_size] - least_level);
}

}  // namespace

void encode_q4_k(std::span<const float> x, BlockWriter writer) {
  const AffineBlock block = best_affine(x, 15);
  writer.half(block.d);
  writer.half(block.dmin);
  write_factors(block, writer);
  write_low_bits(block, writer);
}

void encode_q5_k(std::span<const float> x, BlockWriter writer) {
  const AffineBlock block = best_affine(x, 31);
  writer.half(block.d);
  writer.half(block.dmin);
  write_factors(block, writer);
  for (std::size_t i = 0; i < affine_size; i++) {
    unsigned bits = 0;
    for (std::size_t g = 0; g < affine_groups; g++) bits |= (level(block, g, i) >> 4u) << g;
    writer.byte(bits);
  }
  write_low_bits(block, writer);
}

void encode_q6_k(std::span<const float> x, BlockWriter writer) {
  const LinearBlock block = best_linear(x);
  for (std::size_t half = 0; half < block_size; half += 128) {
    for (std::size_t i = half; i < half + 64; i++) {
      writer.byte((level(block, i) & 15u) | (level(block, i + 64) & 15u) << 4u);
    }
  }
  for (std::size_t half = 0; half < block_size; half += 128) {
    for (std::size_t i = half; i < half + 32; i++) {
      unsigned bits = 0;
      for (unsigned part = 0; part < 4; part++) {
        bits |= (level(block, i + 32 * part) >> 4u) << (2 * part);
      }
      writer.byte(bits);
    }
  }
  for (float scale : block.scales) {
    writer.byte(static_cast<unsigned>(static_cast<int>(scale)) & 255u);
  }
  writer.half(block.d);
}

}  // namespace croze::gguf
