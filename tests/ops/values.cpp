// values.cpp -- corner values of every dtype.
#include "ops/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "croze/graph/eval.h"

namespace croze::test {
namespace {

using Bits = std::vector<std::int64_t>;

// The value that has these bits in memory.
std::int64_t from_pattern(std::uint64_t pattern, DType t) { return load_bits(&pattern, t); }

Bits float_corners(DType t) {
  const double infinity = std::numeric_limits<double>::infinity();
  Bits result;
  for (double v : {0.0,    1.0,   0.5,   1.5,   2.0,     3.0,        10.0,         1.0 / 3,
                   M_PI,   127.5, 128.0, 255.0, 65504.0, 16777217.0, 2147483647.0, 4294967296.0,
                   9.3e18, 1e-3,  1e-7,  88.5,  709.0,   infinity}) {
    result.push_back(bits_of(v, t));
    result.push_back(bits_of(-v, t));
  }
  result.push_back(bits_of(std::nan(""), t));
  // The least and greatest denormals, the least normal number and the greatest finite one lie near
  // the ends of the exponents, so a walk over patterns meets them.
  const int width = static_cast<int>(8 * size_of(t));
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  for (int bit = 0; bit < width - 1; bit++) {
    for (std::uint64_t pattern : {std::uint64_t{1} << bit, (std::uint64_t{2} << bit) - 1}) {
      if (width > 16 && bit > 2 && bit < width - 12) continue;
      result.push_back(from_pattern(pattern, t));
      result.push_back(from_pattern(pattern | sign, t));
    }
  }
  return result;
}

Bits integer_corners(DType t) {
  Bits result;
  for (std::int64_t v : {0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 63, 64, 100, 127, 128, 255, 256, 65535}) {
    result.push_back(bits_of(v, t));
    result.push_back(bits_of(-v, t));
  }
  for (int bit = 0; bit < 64; bit += 3) result.push_back(bits_of(std::int64_t{1} << bit, t));
  for (std::int64_t v : {min_value(t), max_value(t), min_value(t) + 1, max_value(t) - 1}) {
    result.push_back(bits_of(v, t));
  }
  result.push_back(bits_of(std::int64_t{-1}, t));  // the greatest of an unsigned type
  return result;
}

}  // namespace

Bits corners(DType t) {
  Bits result = t == DType::Bool ? Bits{0, 1} : is_float(t) ? float_corners(t) : integer_corners(t);
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

std::vector<Bits> operands(DType t, int arity, std::int64_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(t) * 10 + static_cast<std::uint64_t>(arity));
  const Bits edge = corners(t);
  const auto n = std::ssize(edge);
  std::vector<Bits> result(static_cast<std::size_t>(arity));
  auto any = [&]() {
    const std::uint64_t bits = random();
    switch (bits % 4) {
      case 0: return edge[static_cast<std::size_t>((bits >> 8) % static_cast<std::uint64_t>(n))];
      case 1: return bits_of(static_cast<std::int64_t>((bits >> 8) % 41) - 20, t);
      case 2: return bits_of(std::ldexp(static_cast<double>(bits >> 40), -20) - 8, t);
      default: return from_pattern(bits >> 8, t);
    }
  };
  // Corners in step with a stride that visits many pairs before it repeats.
  for (std::int64_t i = 0; i < count; i++) {
    for (int k = 0; k < arity; k++) {
      const bool corner = i < (arity == 1 ? n : count / 2);
      const std::int64_t at = k == 0 ? i : k == 1 ? i * 7 + i / n * 11 : i * 13 + 5;
      result[static_cast<std::size_t>(k)].push_back(corner ? edge[static_cast<std::size_t>(at % n)]
                                                           : any());
    }
  }
  return result;
}

}  // namespace croze::test
