// sizes.h -- the samples of the op table with other sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace croze::test {

// How the sizes of a sample's tensors are changed.  Equal ones stay equal, so that what fitted
// together does so still, and 1 stays 1, which is what broadcasts.
struct Sizes {
  const char* name;
  // `rank`: the most axes that a tensor of the sample has.
  std::int64_t (*of)(std::int64_t size, int rank);
};

// As the table has them; odd, more than any vector or group takes at a time; and none.
std::span<const Sizes> size_variants();

// The calls of a row's samples, each by itself.
std::vector<std::string> calls_of(std::string_view samples);

// A call with other sizes; empty if it is the same then, or would read elements that there are not.
// Sizes are no greater than where a tensor has `least_rank` axes.
std::string resized(std::string_view call, const Sizes& sizes, int least_rank = 0);

}  // namespace croze::test
