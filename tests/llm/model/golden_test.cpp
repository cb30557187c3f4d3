// Small models of each family with random weights: the scores that transformers computes, and the
// tokens that it chooses.  golden/make_language_models.py recorded them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "croze/llm/generate/generator.h"
#include "croze/llm/sampling/sampler.h"

namespace croze::llm {
namespace {

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(LANGUAGE_MODELS)) {
    names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class GoldenModel : public testing::TestWithParam<std::string> {
 protected:
  std::vector<TokenId> tokens(const char* name) const {
    const std::vector<std::int64_t> list = file.metadata.integers(name);
    return {list.begin(), list.end()};
  }

  // The largest difference of scores, relative to the largest of the scores.
  void expect_near(std::span<const float> scores, std::span<const double> expected) const {
    ASSERT_EQ(scores.size(), expected.size());
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < scores.size(); i++) {
      largest = std::max(largest, std::abs(expected[i]));
      difference = std::max(difference, std::abs(static_cast<double>(scores[i]) - expected[i]));
    }
    EXPECT_LE(difference, 1e-4 * largest);
  }

  GgufFile file = load_gguf(LANGUAGE_MODELS "/" + GetParam() + ".gguf");
  Transformer model{file};
  std::vector<TokenId> prompt = tokens("test.tokens");
  std::vector<double> logits = file.metadata.numbers("test.logits");
};

TEST_P(GoldenModel, GivesTheScoresOfTransformersBehindEachToken) {
  const auto count = std::ssize(prompt);
  KeyValueCache cache(model.config(), {.capacity = 64, .type = CacheType::Float32});
  const Tensor hidden =
      model(Tensor::from_data(prompt, {count}), Tensor::from_data({0}, {1}), cache, 64);
  expect_near(model.logits(hidden).to_vector<float>(), logits);
}

TEST_P(GoldenModel, ChoosesTheTokensOfTransformers) {
  Generator generator(model, {.cache_type = CacheType::Float32});
  Sampler greedy({.temperature = 0});
  std::span<const float> scores = generator.read(prompt);
  expect_near(scores, std::span(logits).last(static_cast<std::size_t>(model.vocabulary())));
  std::vector<TokenId> chosen;
  const std::vector<TokenId> expected = tokens("test.greedy");
  while (chosen.size() < expected.size()) {
    chosen.push_back(greedy.choose(scores, generator.tokens()));
    scores = generator.read(std::span(chosen).last(1));
  }
  EXPECT_EQ(chosen, expected);
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenModel, testing::ValuesIn(models()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace croze::llm
