// The choice of tokens, by hand and by statistics.
#include "croze/llm/sampling/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>

#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

const SamplingOptions plain{.top_k = 0, .top_p = 1, .min_p = 0, .temperature = 1};

// Scores of these probabilities.
std::vector<float> scores_of(std::initializer_list<double> probabilities) {
  std::vector<float> scores;
  for (const double p : probabilities) scores.push_back(static_cast<float>(std::log(p)));
  return scores;
}

std::map<TokenId, int> drawn(const SamplingOptions& options, std::span<const float> scores,
                             int times) {
  Sampler sampler(options);
  std::map<TokenId, int> counts;
  for (int i = 0; i < times; i++) counts[sampler.choose(scores, {})]++;
  return counts;
}

TEST(Sampling, AtTemperatureZeroTheFirstOfTheLikeliestIsChosen) {
  Sampler sampler({.temperature = 0});
  EXPECT_EQ(sampler.choose(std::vector<float>{1, 3, 2, 3}, {}), 1);
}

TEST(Sampling, TokensAreDrawnAsOftenAsTheyAreLikely) {
  constexpr int times = 40000;
  const auto counts = drawn(plain, scores_of({0.1, 0.2, 0.3, 0.4}), times);
  for (int i = 0; i < 4; i++) {
    const double p = 0.1 * (i + 1), deviation = std::sqrt(times * p * (1 - p));
    EXPECT_NEAR(counts.at(i), times * p, 5 * deviation);
  }
}

TEST(Sampling, TheTemperatureIsAPowerOfProbabilities) {
  constexpr int times = 40000;
  SamplingOptions options = plain;
  options.temperature = 0.5;  // 0.2 and 0.8 squared are as 1 to 16
  const auto counts = drawn(options, scores_of({0.2, 0.8}), times);
  EXPECT_NEAR(counts.at(0), times / 17., 5 * std::sqrt(times / 17.));
}

TEST(Sampling, UnlikelyTokensAreLeftOut) {
  const std::vector<float> scores = scores_of({0.05, 0.15, 0.3, 0.5});
  const auto kinds = [&](SamplingOptions options) { return drawn(options, scores, 2000).size(); };
  SamplingOptions options = plain;
  EXPECT_EQ(kinds(options), 4u);
  options.top_k = 3;
  EXPECT_EQ(kinds(options), 3u);
  options = plain;
  options.top_p = 0.79;  // 0.5 + 0.3 are enough
  EXPECT_EQ(kinds(options), 2u);
  options.top_p = 0.81;
  EXPECT_EQ(kinds(options), 3u);
  options = plain;
  options.min_p = 0.2;  // of 0.5, so 0.15 is enough
  EXPECT_EQ(kinds(options), 3u);
  options.top_k = 1;
  EXPECT_EQ(kinds(options), 1u);
}

TEST(Sampling, OneSeedIsOneSequence) {
  const std::vector<float> scores(1000, 0.f);
  const auto sequence = [&](std::uint64_t seed) {
    SamplingOptions options = plain;
    options.seed = seed;
    Sampler sampler(options);
    std::vector<TokenId> tokens;
    for (int i = 0; i < 10; i++) tokens.push_back(sampler.choose(scores, {}));
    return tokens;
  };
  EXPECT_EQ(sequence(1), sequence(1));
  EXPECT_NE(sequence(1), sequence(2));
}

TEST(Sampling, PenaltiesLowerWhatOccurredInTheWindow) {
  const auto chosen = [](SamplingOptions options, std::vector<TokenId> before) {
    options.temperature = 0;
    return Sampler(options).choose(std::vector<float>{2, 1.5f, 1, -1}, before);
  };
  EXPECT_EQ(chosen({.repetition_penalty = 1.5}, {0}), 1);    // 2 / 1.5 < 1.5
  EXPECT_EQ(chosen({.repetition_penalty = 1.2}, {0}), 0);    // 2 / 1.2 > 1.5
  EXPECT_EQ(chosen({.frequency_penalty = 0.3}, {0, 0}), 1);  // 2 - 0.6
  EXPECT_EQ(chosen({.frequency_penalty = 0.3}, {0}), 0);
  EXPECT_EQ(chosen({.presence_penalty = 0.6}, {0, 0}), 1);
  EXPECT_EQ(chosen({.presence_penalty = 0.6}, {0, 1}), 0);
  EXPECT_EQ(chosen({.penalty_window = 1, .presence_penalty = 5}, {0, 1}), 0);
  EXPECT_EQ(chosen({.repetition_penalty = 9}, {3, 77, -1}), 0);  // a low score goes lower
}

TEST(Sampling, BiasesForbidAndForce) {
  const float never = -std::numeric_limits<float>::infinity();
  const std::vector<float> scores{2, 1, 0};
  EXPECT_EQ(Sampler({.bias = {{0, never}}, .temperature = 0}).choose(scores, {}), 1);
  EXPECT_EQ(Sampler({.bias = {{2, 100}, {99, 1}}, .temperature = 0}).choose(scores, {}), 2);
  Sampler nothing({.bias = {{0, never}, {1, never}, {2, never}}});
  error_of([&] { nothing.choose(scores, {}); });
}

TEST(Sampling, OptionsOutOfRangeAndScoresThatAreNaNAreErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  error_of([] { Sampler({.temperature = -1}); });
  error_of([&] { Sampler({.temperature = nan}); });
  error_of([] { Sampler({.top_k = -1}); });
  error_of([] { Sampler({.top_p = 0}); });
  error_of([] { Sampler({.min_p = 1.1}); });
  error_of([] { Sampler({.repetition_penalty = 0}); });
  error_of([&] { Sampler({.presence_penalty = nan}); });
  error_of([] { Sampler({.penalty_window = -1}); });
  error_of([&] { Sampler().choose(std::vector<float>{static_cast<float>(nan)}, {}); });
  error_of([] { Sampler().choose({}, {}); });
}

}  // namespace
}  // namespace croze::llm
