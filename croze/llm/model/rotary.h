// rotary.h -- rotary embeddings: queries and keys are turned by angles that grow with their place,
// so that their product tells how far they are apart.
//
// Pair i of the elements of a head turns by place * frequency[i], the frequency being a power of
// the base.  A model that was trained on a short context and stretched afterwards has other
// frequencies:
//
//   Linear    all divided by a factor
//   Llama 3   each divided by a factor of its own, a tensor of the file
//   LongRope  the same, with one list of factors for short contexts and one for long ones
//   Yarn      fast ones as they were, slow ones divided, those between a mixture
//
// What is called NTK is another base, which the file has already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/llm/model/config.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

// The angles of one list of places.
struct Turn {
  Tensor cosines, sines;  // (places, 1, pairs)
};

struct Rotary {
  Tensor frequencies;       // (pairs): by how many radians a token
  double scale = 1;         // of cosines and sines
  bool neighbours = false;  // pairs are elements 2i and 2i + 1, not i and i + n/2

  // `factors`, if there are any, divide the frequencies, one each.
  Rotary(const RotaryConfig& config, bool neighbours, std::span<const float> factors);

  // For places (n) of any dtype.
  Turn at(const Tensor& places) const;
  // Heads (n, heads, elements) turned; elements beyond the pairs stay.
  Tensor turned(const Tensor& x, const Turn& turn) const;
};

// The frequencies that `config` asks for.
std::vector<double> rotary_frequencies(const RotaryConfig& config, std::span<const float> factors);

}  // namespace croze::llm
