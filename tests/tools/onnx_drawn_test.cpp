// The law of recorded tests that draw: what follows it passes, and nothing else does.
#include "tools/croze/onnx/onnx_drawn.h"

#include <gtest/gtest.h>

#include <random>

namespace croze::tool {
namespace {

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

using Numbers = std::vector<float>;

onnx::Value value(const Numbers& numbers) {
  return Tensor::from_data(numbers, {static_cast<std::int64_t>(numbers.size())});
}

const Numbers probabilities{0.25f, 0.5f, 1, 0};

// 64 draws that are 1 as often as `ones` says.
std::vector<Values> draws_of(const Numbers& ones) {
  std::mt19937 generator(1);
  std::vector<Values> draws;
  for (int i = 0; i < 64; i++) {
    Numbers drawn;
    for (const float p : ones) drawn.push_back(std::bernoulli_distribution(p)(generator) ? 1 : 0);
    draws.push_back({value(drawn)});
  }
  return draws;
}

std::string of_ones(DrawnLaw law, const std::vector<Values>& draws) {
  return difference_from_law(law, {value(probabilities)}, draws);
}

TEST(OnnxDrawn, OnesComeAsOftenAsTheInputSays) {
  EXPECT_EQ(of_ones(DrawnLaw::Ones, draws_of(probabilities)), "");
  EXPECT_EQ(of_ones(DrawnLaw::Zeros, draws_of({0.75f, 0.5f, 0, 1})), "");
}

TEST(OnnxDrawn, OtherFrequenciesAreFound) {
  EXPECT_HAS(of_ones(DrawnLaw::Ones, draws_of({0, 0, 1, 0})), "1 came 64 times, where 112.0 were");
  EXPECT_HAS(of_ones(DrawnLaw::Ones, draws_of({0.5f, 0.75f, 1, 0})), "1 came");
  EXPECT_HAS(of_ones(DrawnLaw::Zeros, draws_of({1, 1, 1, 1})), "0 came 0 times");
}

TEST(OnnxDrawn, OtherValuesThan0And1AreFound) {
  EXPECT_EQ(of_ones(DrawnLaw::Ones, {{value({0, 0.5f, 1, 0})}}), "0.5 is neither 0 nor 1");
}

// 64 draws of dropout: what is kept is multiplied by `scale`; the mask is wrong if `lies`.
std::vector<Values> dropped(const Numbers& x, double ratio, float scale, bool lies = false) {
  std::mt19937 generator(2);
  std::bernoulli_distribution is_dropped(ratio);
  std::vector<Values> draws;
  for (int i = 0; i < 64; i++) {
    Numbers y, mask;
    for (const float number : x) {
      const bool is_kept = !is_dropped(generator);
      y.push_back(is_kept ? number * scale : 0);
      mask.push_back(is_kept != lies ? 1 : 0);
    }
    draws.push_back({value(y), value(mask)});
  }
  return draws;
}

TEST(OnnxDrawn, DropoutDropsAsOftenAsItsRatioAndScalesTheRest) {
  const Numbers x{1, -2, 3, 4};
  const Values inputs{value(x), value({0.75f})};
  const auto difference = [&](const std::vector<Values>& draws) {
    return difference_from_law(DrawnLaw::Dropout, inputs, draws);
  };
  EXPECT_EQ(difference(dropped(x, 0.75, 4)), "");
  EXPECT_HAS(difference(dropped(x, 0.5, 4)), "0 came");
  EXPECT_HAS(difference(dropped(x, 0.75, 1)), "neither 0 nor");
  EXPECT_EQ(difference(dropped(x, 0.75, 4, true)), "the mask tells of another draw");
}

TEST(OnnxDrawn, OnlyTheNodeTestsThatDrawHaveALaw) {
  EXPECT_EQ(drawn_law("node", "test_bernoulli"), DrawnLaw::Ones);
  EXPECT_EQ(drawn_law("node", "test_relu"), DrawnLaw::None);
  EXPECT_EQ(drawn_law("light", "test_bernoulli"), DrawnLaw::None);
}

}  // namespace
}  // namespace croze::tool
