#include "croze/llm/sampling/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>

namespace croze::llm {
namespace {

TEST(Likelihood, IsTheLogarithmOfTheSoftmax) {
  const std::vector<float> scores{1000 + std::log(1.f), 1000 + std::log(3.f), 1000 + std::log(4.f)};
  const LogProbabilities all(scores);
  EXPECT_NEAR(std::exp(all.of(0)), 1. / 8, 1e-4);
  EXPECT_NEAR(std::exp(all.of(1)), 3. / 8, 1e-4);
  EXPECT_NEAR(std::exp(all.of(2)), 4. / 8, 1e-4);
}

TEST(Likelihood, TheLikeliestComeFirst) {
  const std::vector<float> scores{1, 3, 2, 3};
  const LogProbabilities all(scores);
  const auto three = all.likeliest(3);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].token, 1);
  EXPECT_EQ(three[1].token, 3);
  EXPECT_EQ(three[2].token, 2);
  EXPECT_DOUBLE_EQ(three[2].log_probability, all.of(2));
  EXPECT_EQ(all.likeliest(9).size(), 4u);
  EXPECT_TRUE(all.likeliest(0).empty());
}

}  // namespace
}  // namespace croze::llm
