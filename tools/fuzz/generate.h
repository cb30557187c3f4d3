// generate.h -- random tensor programs.
#pragma once

#include <cstdint>

#include "fuzz/program.h"

namespace croze::fuzz {

struct FuzzOptions {
  int steps = 14;               // instructions, or small groups of them
  std::int64_t largest = 3000;  // elements of a value
  bool rare_dtypes = true;      // beside f32, i32 and bool
  int specials = 0;             // percent of the elements of float buffers: NaN, infinities, -0
  int assigns = 4;              // percent of the steps: a buffer, or a part of it, is assigned
  int contractions = 4;         // percent: matmuls and convolutions large enough for tiles
  bool only_views = false;      // nothing but movement ops, on one buffer
};

// The program of a seed: the same on every machine.
FuzzProgram random_program(std::uint64_t seed, const FuzzOptions& options = {});

}  // namespace croze::fuzz
