// byte_size.h -- the size of an array that a file describes, where the description may lie.
#pragma once

#include <cstdint>
#include <optional>

#include "croze/graph/dtype.h"
#include "croze/tensor/shape.h"

namespace croze {

// Bytes of an array of non-negative sizes; nothing if they do not fit 64 bits.
inline std::optional<std::int64_t> byte_size(const Shape& shape, DType dtype) {
  std::int64_t bytes = size_of(dtype);
  bool fits = true, empty = false;
  for (std::int64_t size : shape) {
    empty = empty || size == 0;
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  }
  if (empty) return 0;
  return fits ? std::optional(bytes) : std::nullopt;
}

}  // namespace croze
