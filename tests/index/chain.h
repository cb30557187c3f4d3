// chain.h -- the lines of corpus.txt: chains of views in a tiny language, and their counts.
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "croze/croze.h"

namespace croze::test {

// Divisions, remainders and selections in a kernel.
using Counts = std::array<int, 3>;

struct Chain {
  std::string name;
  Shape shape;
  std::vector<std::string> steps;
  Counts tinygrad{}, croze{};
};

// What GoogleTest prints of a chain.
void PrintTo(const Chain& chain, std::ostream* out);

// The chains of the file.  Throws Error naming the line if one cannot be read.
std::vector<Chain> read_chains(const std::string& path);

// The chain applied to a new tensor that counts upwards.
Tensor build(const Chain& chain);

}  // namespace croze::test
