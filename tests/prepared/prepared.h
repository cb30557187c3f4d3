// prepared.h -- networks that are prepared, and numbers that go in and come out.
#pragma once

#include <croze/croze.h>
#include <croze/nn/nn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "croze/prepared/prepared_step.h"
#include "support/networks.h"

namespace croze::test {

using Numbers = std::vector<float>;

struct ConvolutionalNet {
  nn::Conv2d first{1, 8, 3}, second{8, 16, 3};
  nn::Linear head{16 * 12 * 12, 10};
  Tensor operator()(const Tensor& x) const {
    return head(relu(second(relu(first(x)))).reshape({x.size(0), 16 * 12 * 12})).softmax(1);
  }
};

inline void give(StepInstance& instance, int number, const Tensor& value) {
  const std::vector<std::byte> bytes = value.to_bytes();
  ASSERT_EQ(bytes.size(), instance.input(number).size());
  std::ranges::copy(bytes, instance.input(number).begin());
}

template <typename T>
Numbers numbers_of(std::span<T> values) {
  return {values.begin(), values.end()};
}
template <typename T>
std::vector<std::byte> bytes_of(std::span<T> values) {
  return {values.begin(), values.end()};
}

// Up to what another order of additions does.
template <typename T>
void expect_close(std::span<T> values, const Numbers& expected) {
  ASSERT_EQ(values.size(), expected.size());
  float most = 0;
  for (float v : expected) most = std::max(most, std::abs(v));
  for (std::size_t i = 0; i < expected.size(); i++) {
    ASSERT_NEAR(values[i], expected[i], 1e-5f * most) << i;
  }
}

}  // namespace croze::test
