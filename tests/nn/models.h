// models.h -- comparing tensors in tests of nn.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/nn/nn.h"
#include "support/errors.h"

namespace croze::test {

inline std::vector<std::string> names_of(const StateDict& dict) {
  std::vector<std::string> names;
  for (const NamedTensor& t : dict) names.push_back(t.name);
  return names;
}

inline void expect_near(const Tensor& actual, const std::vector<double>& expected,
                        double tolerance) {
  const std::vector<double> values = actual.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); i++) {
    EXPECT_NEAR(values[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

}  // namespace croze::test
