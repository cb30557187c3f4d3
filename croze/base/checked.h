// Sizes that come from outside: overflow is an Error and never a wrong size, and so is memory that
// is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "croze/base/error.h"

namespace croze {

// a * b.  Throws Error if the product does not fit 64 bits.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t result;
  check(!__builtin_mul_overflow(a, b, &result), "size {} * {} does not fit 64 bits", a, b);
  return result;
}

// a + b.  Throws Error if the sum does not fit 64 bits.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t result;
  check(!__builtin_add_overflow(a, b, &result), "size {} + {} does not fit 64 bits", a, b);
  return result;
}

// The product of all factors, 1 for none; 0 if any is 0, however large the others are.  Throws
// Error if it does not fit 64 bits.
inline int64_t checked_product(std::span<const int64_t> factors) {
  for (int64_t factor : factors) {
    if (factor == 0) return 0;
  }
  int64_t result = 1;
  for (int64_t factor : factors) result = checked_mul(result, factor);
  return result;
}

// No process can have more bytes: it is half of what 64-bit processors address.
inline constexpr int64_t address_space = int64_t{1} << 46;

// A vector of `count` elements, all zero.  Throws Error with its size, and what it is to hold, if
// there is no memory for it.
template <typename T>
std::vector<T> sized_vector(int64_t count, std::string_view what) {
  const auto bytes = static_cast<int64_t>(sizeof(T));
  try {
    check(count <= address_space / bytes, "out of memory: {} takes {} elements of {} bytes", what,
          count, bytes);
    return std::vector<T>(static_cast<size_t>(count));
  } catch (const std::bad_alloc&) {
    fail({}, "out of memory: {} takes {} bytes", what, count * bytes);
  }
}

}  // namespace croze
