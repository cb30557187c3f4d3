// Arithmetic on sizes that come from outside: overflow is an Error and never a wrong size.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"

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

}  // namespace croze
