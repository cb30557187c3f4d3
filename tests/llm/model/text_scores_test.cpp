// Scores of texts that are read by some steps and left out by others.
#include "croze/llm/generate/text_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "croze/tensor/elementwise/elementwise.h"

namespace croze::llm {
namespace {

using Row = std::vector<float>;

class TextScoresTest : public testing::Test {
 protected:
  void step(const std::vector<std::size_t>& texts, float first, std::size_t rows) {
    scores.expect(texts);
    for (std::size_t text : texts) EXPECT_EQ(of(text), Row());
    const auto size = static_cast<std::int64_t>(2 * rows);
    scores.take(add(Tensor::arange(size, {.dtype = DType::Float32}), first).elements<float>());
  }
  Row of(std::size_t text) const { return {scores.of(text).begin(), scores.of(text).end()}; }

  TextScores scores{4, 2};
};

TEST_F(TextScoresTest, AreThoseOfTheLastStepThatReadTheText) {
  step({2, 0}, 1, 2);
  EXPECT_EQ(of(2), (Row{1, 2}));
  EXPECT_EQ(of(0), (Row{3, 4}));
  step({0, 3, 1}, 10, 4);
  EXPECT_EQ(of(2), (Row{1, 2}));
  EXPECT_EQ(of(0), (Row{10, 11}));
  EXPECT_EQ(of(1), (Row{14, 15}));
  step({2}, 20, 1);
  EXPECT_EQ(of(2), (Row{20, 21}));
  EXPECT_EQ(of(3), (Row{12, 13}));
}

TEST_F(TextScoresTest, AreNoneOfATextThatHasReadNothing) {
  EXPECT_EQ(of(1), Row());
  step({1, 2}, 1, 2);
  scores.forget(1);
  EXPECT_EQ(of(1), Row());
  EXPECT_EQ(of(2), (Row{3, 4}));
  step({3}, 5, 1);
  EXPECT_EQ(of(1), Row());
  EXPECT_EQ(of(2), (Row{3, 4}));
  scores.forget(2);
  EXPECT_EQ(of(2), Row());
}

}  // namespace
}  // namespace croze::llm
