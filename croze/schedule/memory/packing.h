// packing.h -- pieces of memory with known lifetimes, packed into as few bytes as can be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace croze {

// Memory that is needed from one time to another, both included.
struct Lifetime {
  int first = 0, last = 0;
  std::int64_t bytes = 0;
};

struct Packing {
  std::vector<std::int64_t> offsets;  // by piece
  std::int64_t bytes = 0;             // of all pieces together
  std::int64_t lower_bound = 0;       // most bytes needed at one time
};

// Gives each piece an offset such that two that are needed at one time do not overlap.  Sizes are
// rounded up to multiples of `alignment`, so that all offsets are multiples of it.  Equal pieces
// are packed equally.
Packing pack(std::span<const Lifetime> pieces, std::int64_t alignment);

}  // namespace croze
