// Answers with guesses: the tokens that there are without them, in fewer steps.
#include "croze/llm/generate/drafter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "croze/llm/generate/language_model.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

// Guesses what follows in a text that it knows, but for every n-th token.
struct Oracle : Drafter {
  Oracle(std::vector<TokenId> known, std::size_t wrong_every)
      : text(std::move(known)), every(wrong_every) {}
  std::vector<TokenId> draft(std::span<const TokenId> so_far, std::int64_t most) override {
    std::vector<TokenId> tokens;
    for (std::size_t i = so_far.size(); i < text.size() && std::ssize(tokens) < most; i++) {
      tokens.push_back(i % every == every - 1 ? (text[i] + 1) % 200 : text[i]);
    }
    calls++;
    return tokens;
  }

  std::vector<TokenId> text;
  std::size_t every;
  int calls = 0;
};

struct Drafters : testing::Test {
  Answer ask(const SamplingOptions& sampling, Drafter* drafter, std::int64_t tokens = 40,
             std::vector<std::string> stop = {}) const {
    Generator generator(model->transformer, options);
    return answer(
        *model, generator, prompt,
        {.sampling = sampling, .max_tokens = tokens, .stop = std::move(stop), .drafter = drafter});
  }
  std::vector<TokenId> text_with(const Answer& of) const {
    std::vector<TokenId> text = prompt;
    text.insert(text.end(), of.tokens.begin(), of.tokens.end());
    return text;
  }

  const GeneratorOptions options{.context = 128, .cache_type = CacheType::Float32};
  std::unique_ptr<const LanguageModel> model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  std::vector<TokenId> prompt = model->tokenizer.encode("abba and others and abba");
};

TEST_F(Drafters, GreedyAnswersAreThoseWithoutGuesses) {
  const SamplingOptions greedy{.temperature = 0};
  const Answer plain = ask(greedy, nullptr);
  PromptLookup lookup;
  DraftModel itself(*model, *model, {.generator = options, .least_probability = 0});
  Oracle often(text_with(plain), 3), never(text_with(plain), 1), always(text_with(plain), 1000);
  for (Drafter* drafter :
       std::initializer_list<Drafter*>{&lookup, &itself, &often, &never, &always}) {
    const Answer guessed = ask(greedy, drafter);
    EXPECT_EQ(guessed.tokens, plain.tokens);
    EXPECT_EQ(guessed.text, plain.text);
    EXPECT_EQ(guessed.end, plain.end);
  }
  // 39 tokens are read behind the first: 8 at a time.
  EXPECT_EQ(ask(greedy, &always).accepted, 34);
  EXPECT_EQ(always.calls, 2 * 5);
  EXPECT_EQ(ask(greedy, &never).accepted, 0);
  const Answer by_itself = ask(greedy, &itself);
  EXPECT_GT(by_itself.drafted, 0);
  // The last one is not read, since there are enough tokens then.
  EXPECT_GE(by_itself.accepted, by_itself.drafted - 1);
}

TEST_F(Drafters, DrawnAnswersAreThoseWithoutGuesses) {
  PromptLookup lookup({.longest = 3, .shortest = 1});
  DraftModel itself(*model, *model, {.generator = options, .least_probability = 0});
  for (std::uint64_t seed = 0; seed < 20; seed++) {
    const SamplingOptions sampling{.repetition_penalty = 1.1, .temperature = 1, .seed = seed};
    const Answer plain = ask(sampling, nullptr);
    EXPECT_EQ(ask(sampling, &lookup).tokens, plain.tokens) << seed;
    EXPECT_EQ(ask(sampling, &itself).tokens, plain.tokens) << seed;
  }
}

TEST_F(Drafters, AnswersEndWhereTheyWouldEnd) {
  const SamplingOptions greedy{.temperature = 0};
  const Answer plain = ask(greedy, nullptr, -1);
  Oracle oracle(text_with(plain), 1000);
  const Answer full = ask(greedy, &oracle, -1);
  EXPECT_EQ(full.tokens, plain.tokens);
  EXPECT_EQ(full.end, plain.end);
  const std::string stop = plain.text.substr(plain.text.size() / 3, 3);
  const Answer stopped = ask(greedy, &oracle, -1, {stop});
  EXPECT_EQ(stopped.end, AnswerEnd::Stop);
  EXPECT_EQ(stopped.text, plain.text.substr(0, plain.text.find(stop)));
  for (const std::int64_t count : {0, 1, 2, 9}) {
    EXPECT_EQ(ask(greedy, &oracle, count).tokens,
              std::vector(plain.tokens.begin(), plain.tokens.begin() + count));
  }
}

// Allows one token first, and then any.
struct OneFirst : TokenFilter {
  explicit OneFirst(TokenId only) : token(only) {}
  void restrict(std::span<float> scores) override {
    if (is_first) {
      for (TokenId id = 0; id < std::ssize(scores); id++) {
        if (id != token) scores[static_cast<std::size_t>(id)] = -INFINITY;
      }
    }
  }
  void accept(TokenId) override { is_first = false; }
  bool is_finished() const override { return false; }

  TokenId token;
  bool is_first = true;
};

// The second token of three thousand answers: how often each is drawn, whether it was guessed or
// not, is what the scores say within four standard deviations.
TEST_F(Drafters, DrawsKeepTheirDistribution) {
  constexpr int draws = 3000;
  constexpr TokenId first = 65;
  std::vector<TokenId> text = prompt;
  text.push_back(first);
  Generator generator(model->transformer, options);
  std::map<TokenId, double> expected;
  double sum = 0;
  for (const auto& [token, log_probability] :
       LogProbabilities(generator.read_from_start(text)).likeliest(4)) {
    sum += expected[token] = std::exp(log_probability);
  }
  // The second likeliest is guessed, so most guesses are wrong and many are right.
  std::vector<std::pair<double, TokenId>> order;
  for (const auto& [token, p] : expected) order.emplace_back(p, token);
  std::ranges::sort(order, std::greater());
  text.push_back(order[1].second);
  Oracle oracle(text, 1000);
  std::map<TokenId, int> counts;
  std::int64_t accepted = 0;
  for (std::uint64_t seed = 0; seed < draws; seed++) {
    OneFirst filter(first);
    const Answer drawn =
        answer(*model, generator, prompt,
               {.sampling = {.top_k = 4, .top_p = 1, .min_p = 0, .temperature = 1, .seed = seed},
                .max_tokens = 3,
                .filter = &filter,
                .drafter = &oracle});
    accepted += drawn.accepted;
    if (drawn.tokens.size() > 1) counts[drawn.tokens[1]]++;
  }
  EXPECT_GT(accepted, draws / 100);
  EXPECT_LT(accepted, draws / 2 + 100);
  for (const auto& [token, weight] : expected) {
    const double p = weight / sum;
    EXPECT_NEAR(counts[token], draws * p, 4 * std::sqrt(draws * p * (1 - p))) << token;
  }
}

TEST_F(Drafters, WhatCannotBeIsRefused) {
  EXPECT_NE(error_of([] { PromptLookup({.longest = 2, .shortest = 3}); }).find("3 to 2"),
            std::string::npos);
  Generator generator(model->transformer, options);
  EXPECT_NE(error_of([&] { generator.read_each(std::vector<TokenId>(17, 1)); }).find("at most 16"),
            std::string::npos);
  error_of([&] { generator.read_each({}); });
  EXPECT_NE(error_of([&] { answer(*model, generator, prompt, {.drafted = 16}); }).find("0..15"),
            std::string::npos);
}

TEST(PromptLookupTest, FindsTheLastTimeOfTheLongestEnd) {
  PromptLookup lookup({.longest = 3, .shortest = 2});
  using Tokens = std::vector<TokenId>;
  EXPECT_EQ(lookup.draft(Tokens{1, 2, 3, 4, 5, 1, 2, 3}, 8), (Tokens{4, 5, 1, 2, 3}));
  EXPECT_EQ(lookup.draft(Tokens{1, 2, 3, 4, 5, 1, 2, 3}, 2), (Tokens{4, 5}));
  EXPECT_EQ(lookup.draft(Tokens{9, 2, 3, 4, 2, 3, 5, 2, 3}, 1), (Tokens{5}));
  EXPECT_EQ(lookup.draft(Tokens{1, 2, 3, 7, 9, 2, 3, 5, 1, 2, 3}, 1), (Tokens{7}));
  EXPECT_EQ(lookup.draft(Tokens{7, 7, 7}, 4), (Tokens{7}));
  EXPECT_EQ(lookup.draft(Tokens{1, 2, 3}, 4), Tokens{});
  EXPECT_EQ(lookup.draft(Tokens{}, 4), Tokens{});
  EXPECT_EQ(lookup.draft(Tokens{1, 2, 1, 2}, 0), Tokens{});
}

// The scores behind each of several tokens are those behind the last one, had the text ended there.
class EachScore : public testing::TestWithParam<std::string> {};

TEST_P(EachScore, IsTheOneOfTheTextUpToThere) {
  const GgufFile file = load_gguf(LANGUAGE_MODELS "/" + GetParam() + ".gguf");
  const Transformer model(file);
  Generator one(model, {.context = 64, .cache_type = CacheType::Float32});
  Generator each(model, {.context = 64, .cache_type = CacheType::Float32});
  std::vector<TokenId> beginning(20), more(5);
  for (int i = 0; i < 20; i++) beginning[static_cast<std::size_t>(i)] = i * 3 % 40;
  for (int i = 0; i < 5; i++) more[static_cast<std::size_t>(i)] = i * 7 % 40;
  one.read(beginning);
  each.read(beginning);
  // Guesses that were wrong leave nothing behind.
  each.read_each(std::vector<TokenId>{9, 8, 7});
  each.truncate(20);
  const std::span<const float> scores = each.read_each(more);
  ASSERT_EQ(scores.size(), 5 * static_cast<std::size_t>(model.vocabulary()));
  for (std::size_t i = 0; i < 5; i++) {
    const std::span<const float> expected = one.read(std::span(more).subspan(i, 1));
    const float largest =
        std::abs(*std::ranges::max_element(expected, {}, [](float x) { return std::abs(x); }));
    for (std::size_t k = 0; k < expected.size(); k++) {
      ASSERT_NEAR(scores[i * expected.size() + k], expected[k], 1e-5f * largest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, EachScore,
                         testing::Values("llama", "gemma3", "gpt2", "mixtral", "deepseek3"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace croze::llm
