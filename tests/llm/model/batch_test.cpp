// Texts that are read together: the scores are those of each alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "croze/base/options.h"
#include "croze/llm/generate/batch_generator.h"
#include "croze/llm/generate/chunks.h"
#include "croze/llm/generate/generator.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

std::vector<TokenId> some_tokens(std::int64_t count, int seed, std::int64_t vocabulary) {
  std::vector<TokenId> tokens;
  for (std::int64_t i = 0; i < count; i++) {
    tokens.push_back(static_cast<TokenId>((i * 31 + seed * 7 + i * i * seed) % vocabulary));
  }
  return tokens;
}

void read_all(BatchGenerator& batch, std::size_t number, std::span<const TokenId> text) {
  text = text.subspan(batch.tokens(number).size());
  while (!text.empty()) {
    const auto count = std::min(text.size(), static_cast<std::size_t>(chunk));
    batch.read_chunk(number, text.first(count));
    text = text.subspan(count);
  }
}

void expect_near(std::span<const float> scores, std::span<const float> expected) {
  ASSERT_EQ(scores.size(), expected.size());
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < scores.size(); i++) {
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(scores[i] - expected[i]));
  }
  EXPECT_LE(difference, 1e-5f * largest);
}

class Batch : public testing::TestWithParam<std::string> {
 protected:
  std::vector<TokenId> tokens(std::int64_t count, int seed) const {
    return some_tokens(count, seed, model.vocabulary());
  }
  std::vector<float> alone(std::span<const TokenId> text) const {
    Generator generator(model, {.context = 128, .cache_type = CacheType::Float32});
    const std::span<const float> scores = generator.read(text);
    return {scores.begin(), scores.end()};
  }

  GgufFile file = load_gguf(LANGUAGE_MODELS "/" + GetParam() + ".gguf");
  Transformer model{file};
  BatchGenerator batch{model, {.context = 128, .texts = 3, .cache_type = CacheType::Float32}};
};

TEST_P(Batch, GivesEachTextTheScoresThatItHasAlone) {
  const std::vector<std::int64_t> lengths{5, 30, 70};
  std::vector<std::vector<TokenId>> texts;
  for (std::size_t i = 0; i < lengths.size(); i++) {
    texts.push_back(tokens(lengths[i], static_cast<int>(i) + 1));
    const std::size_t number = batch.join(texts[i]);
    EXPECT_EQ(number, i);
    read_all(batch, number, texts[i]);
    expect_near(batch.scores(number), alone(texts[i]));
  }
  for (int step = 0; step < 3; step++) {
    std::vector<BatchGenerator::Next> next;
    for (std::size_t i = 0; i < texts.size(); i++) {
      // The second one rests for a step, and the places of the rows change.
      if (step == 1 && i == 1) continue;
      texts[i].push_back(static_cast<TokenId>(step + static_cast<int>(i)));
      next.push_back({i, texts[i].back()});
    }
    std::ranges::reverse(next);
    batch.read_each(next);
  }
  for (std::size_t i = 0; i < texts.size(); i++) expect_near(batch.scores(i), alone(texts[i]));
}

TEST_P(Batch, TextsThatBeginAlikeShareWhatWasRead) {
  const std::vector<TokenId> first = tokens(100, 1);
  const std::size_t a = batch.join(first);
  read_all(batch, a, first);
  std::vector<TokenId> second = first;
  second[80]++;
  second[80] %= static_cast<TokenId>(model.vocabulary());
  const std::size_t b = batch.join(second);
  EXPECT_EQ(batch.tokens(b).size(), 80u);
  read_all(batch, b, second);
  expect_near(batch.scores(b), alone(second));
  // The page that was copied is one of its own.
  const std::vector<BatchGenerator::Next> next{{a, 1}, {b, 2}};
  batch.read_each(next);
  std::vector<TokenId> grown = first;
  grown.push_back(1);
  expect_near(batch.scores(a), alone(grown));
  second.push_back(2);
  expect_near(batch.scores(b), alone(second));
  EXPECT_EQ(batch.texts().text(a).pages[0], batch.texts().text(b).pages[0]);
  EXPECT_NE(batch.texts().text(a).pages[1], batch.texts().text(b).pages[1]);
  // And of one that has left.
  batch.leave(a);
  const std::size_t c = batch.join(grown);
  EXPECT_EQ(batch.tokens(c).size(), 100u);
  read_all(batch, c, grown);
  expect_near(batch.scores(c), alone(grown));
}

// In more memory than may be taken the cache would be found out only when texts have grown.
TEST_P(Batch, RefusesACacheThatIsMoreThanTheLimit) {
  const Options::Scope limit{{Option::MemoryLimit, 1}};
  EXPECT_NE(error_of([&] {
              BatchGenerator(model, {.context = 128, .texts = 256});
            }).find("a cache of 32896 tokens takes"),
            std::string::npos);
}

TEST_P(Batch, RefusesWhatDoesNotFit) {
  const std::vector<TokenId> text = tokens(100, 1), wrong{-1};
  const std::size_t number = batch.join(text);
  batch.join(text);
  batch.join(text);
  EXPECT_NE(error_of([&] { batch.join(text); }).find("3 texts grow already"), std::string::npos);
  const auto refusal = [&](std::span<const TokenId> tokens) {
    return error_of([&] { batch.read_chunk(number, tokens); });
  };
  EXPECT_NE(refusal({}).find("no tokens"), std::string::npos);
  EXPECT_NE(refusal(wrong).find("token -1"), std::string::npos);
  EXPECT_NE(refusal(tokens(300, 1)).find("at most 128"), std::string::npos);
  read_all(batch, number, text);
  EXPECT_NE(refusal(std::span(text).first(29)).find("100 tokens, and 29 more, of 128"),
            std::string::npos);
  EXPECT_NE(error_of([&] { BatchGenerator(model, {.texts = 0}); }).find("0 texts"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Families, Batch,
                         testing::Values("llama", "gemma2", "gemma3", "gpt2", "mixtral",
                                         "deepseek3"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace croze::llm
