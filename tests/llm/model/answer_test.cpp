// Answers of a small model: how they end, and what of them is shown while they arrive.
#include <gtest/gtest.h>

#include <algorithm>

#include "croze/llm/generate/conversation.h"
#include "croze/llm/generate/language_model.h"
#include "croze/llm/generate/stop_strings.h"
#include "support/errors.h"

namespace croze::llm {
namespace {

using test::error_of;

struct Answers : testing::Test {
  Answer ask(AnswerOptions options, std::int64_t context = 128) const {
    options.sampling.temperature = 0;
    Generator generator(model->transformer, {.context = context, .cache_type = CacheType::Float32});
    return answer(*model, generator, prompt, options);
  }

  std::unique_ptr<const LanguageModel> model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  GgufFile file = load_gguf(LANGUAGE_MODELS "/talking.gguf");
  std::vector<TokenId> prompt = tokens("test.tokens"), greedy = tokens("test.greedy");

 private:
  std::vector<TokenId> tokens(const char* name) const {
    const std::vector<std::int64_t> list = file.metadata.integers(name);
    return {list.begin(), list.end()};
  }
};

TEST_F(Answers, AreTheLikeliestTokensUntilThereAreEnough) {
  std::string streamed;
  const Answer a = ask({.max_tokens = 20, .on_text = [&](std::string_view piece) {
                          streamed += piece;
                          return true;
                        }});
  EXPECT_EQ(a.tokens, std::vector(greedy.begin(), greedy.begin() + 20));
  EXPECT_EQ(a.end, AnswerEnd::Length);
  EXPECT_EQ(a.text, model->tokenizer.decode(a.tokens));
  EXPECT_EQ(a.text, streamed);
  EXPECT_EQ(a.prompt_tokens, 24);
  EXPECT_EQ(a.prompt_read, 24);
}

TEST_F(Answers, EndAtATokenThatEndsATurn) {
  AnswerOptions options;
  options.sampling.bias = {{258, 1000.f}};
  const Answer a = ask(options);
  EXPECT_TRUE(a.tokens.empty());
  EXPECT_EQ(a.text, "");
  EXPECT_EQ(a.end, AnswerEnd::Token);
}

TEST_F(Answers, EndBeforeAStopString) {
  const std::string whole = ask({.max_tokens = 40}).text;
  const std::string stop = whole.substr(whole.size() / 2, 3);
  std::string streamed;
  const Answer a = ask({.max_tokens = 40, .stop = {"never", stop}, .on_text = [&](auto piece) {
                          streamed += piece;
                          return true;
                        }});
  EXPECT_EQ(a.end, AnswerEnd::Stop);
  EXPECT_EQ(a.text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(streamed, a.text);
}

TEST_F(Answers, EndWhereTheContextIsFullAndWhereTheCallerSaysSo) {
  const Answer full = ask({}, 32);
  EXPECT_EQ(full.end, AnswerEnd::Context);
  EXPECT_EQ(full.tokens, std::vector(greedy.begin(), greedy.begin() + 9));
  const Answer stopped = ask({.on_text = [](std::string_view) { return false; }});
  EXPECT_EQ(stopped.end, AnswerEnd::Caller);
  const std::string text = error_of([&] { ask({}, 23); });
  EXPECT_NE(text.find("24 tokens does not fit a context of 23"), std::string::npos) << text;
}

TEST_F(Answers, EndBetweenTheChunksOfAPrompt) {
  const std::vector<TokenId> longer(100, prompt[0]);
  Generator generator(model->transformer);
  int asked = 0;
  AnswerOptions options;
  options.goes_on = [&] { return ++asked < 2; };
  const Answer stopped = answer(*model, generator, longer, options);
  EXPECT_EQ(stopped.end, AnswerEnd::Caller);
  EXPECT_TRUE(stopped.tokens.empty());
  EXPECT_EQ(generator.tokens().size(), 64u);
  // What was read by then is not read again.
  EXPECT_EQ(answer(*model, generator, longer, {.max_tokens = 1}).prompt_read, 36);
}

TEST_F(Answers, NameTheTokensWithTheirLikelihoods) {
  std::vector<ChosenToken> chosen;
  AnswerOptions options{.max_tokens = 5};
  options.on_token = [&](ChosenToken token) { chosen.push_back(std::move(token)); };
  options.likeliest = 3;
  const Answer a = ask(options);
  ASSERT_EQ(chosen.size(), a.tokens.size());
  for (std::size_t i = 0; i < chosen.size(); i++) {
    EXPECT_EQ(chosen[i].token, a.tokens[i]);
    ASSERT_EQ(chosen[i].likeliest.size(), 3u);
    EXPECT_EQ(chosen[i].likeliest[0].token, a.tokens[i]);
  }
}

TEST_F(Answers, KeepWhatAPromptHasInCommonWithTheLast) {
  const auto prompt_of = [&](std::vector<Message> messages) {
    return chat_prompt(*model->chat, model->tokenizer, messages);
  };
  Generator generator(model->transformer);
  const std::vector<TokenId> first = prompt_of({{"user", "abba"}});
  EXPECT_EQ(model->tokenizer.decode(first, {.skip_special = false}),
            "<|im_start|>user\nabba<|im_end|>\n<|im_start|>assistant\n");
  const Answer one = answer(*model, generator, first, {.max_tokens = 4});
  const std::vector<TokenId> second =
      prompt_of({{"user", "abba"}, {"assistant", one.text}, {"user", "b"}});
  EXPECT_GE(generator.common_length(second), std::ssize(first));
  const Answer two = answer(*model, generator, second, {.max_tokens = 1});
  EXPECT_LT(two.prompt_read, std::ssize(second));
}

TEST_F(Answers, NeedAPrompt) {
  Generator generator(model->transformer);
  error_of([&] { answer(*model, generator, {}, {}); });
}

TEST(StopStringsTest, HoldBackWhatMayBecomeOne) {
  StopStrings stops({"END", "", "aab"});
  EXPECT_EQ(stops.push("xE"), "x");
  EXPECT_EQ(stops.push("N"), "");
  EXPECT_EQ(stops.push("."), "EN.");
  EXPECT_EQ(stops.push("aa"), "");
  EXPECT_EQ(stops.push("a"), "a");
  EXPECT_EQ(stops.push("c"), "aac");
  EXPECT_EQ(stops.push("1EN"), "1");
  EXPECT_EQ(stops.push("D2"), "");
  EXPECT_TRUE(stops.is_stopped());
  EXPECT_EQ(stops.push("more"), "");
  EXPECT_EQ(stops.finish(), "");
}

TEST(StopStringsTest, TheFirstOfSeveralEndsTheText) {
  StopStrings stops({"world", "lo"});
  EXPECT_EQ(stops.push("hello world"), "hel");
  StopStrings open({"abc"});
  EXPECT_EQ(open.push("xab"), "x");
  EXPECT_EQ(open.finish(), "ab");
}

}  // namespace
}  // namespace croze::llm
