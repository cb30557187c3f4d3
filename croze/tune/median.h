// median.h -- the value in the middle, as of times that were measured.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace croze {

// Of two in the middle the upper one.  There is at least one value.
inline double median(std::vector<double> values) {
  const auto half = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, half);
  return *half;
}

}  // namespace croze
