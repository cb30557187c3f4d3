// One engine and those who ask: order, bounds, cancelling, the end.
#include "croze/llm/serve/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {
namespace {

using namespace std::chrono_literals;

struct EngineTest : testing::Test {
  Job job(std::int64_t max_tokens = 8) const {
    return {.prompt = prompt, .sampling = {.temperature = 0}, .max_tokens = max_tokens};
  }
  static std::string all_of(Reply& reply) {
    std::string text;
    while (auto piece = reply.next(10s)) text += piece->text;
    return text;
  }
  static int status_of(Engine& engine, Job job) {
    try {
      engine.submit(std::move(job));
    } catch (const Refusal& refusal) {
      return refusal.status();
    }
    return 0;
  }

  std::unique_ptr<const LanguageModel> model = LanguageModel::load(LANGUAGE_MODELS "/talking.gguf");
  std::vector<TokenId> prompt = model->tokenizer.encode("abba and others");
};

TEST_F(EngineTest, AnswersAsTheModelDoesAlone) {
  Generator generator(model->transformer);
  const Answer alone =
      answer(*model, generator, prompt, {.sampling = {.temperature = 0}, .max_tokens = 8});
  Engine engine(*model, {});
  for (int i = 0; i < 2; i++) {
    const auto reply = engine.submit(job());
    EXPECT_EQ(all_of(*reply), alone.text);
    EXPECT_EQ(reply->end(), ReplyEnd::Answered);
    EXPECT_EQ(reply->answer().tokens, alone.tokens);
    // What is known of the prompt is not read again, but for its last token.
    EXPECT_EQ(reply->answer().prompt_read, i == 0 ? std::ssize(prompt) : 1);
  }
  const EngineStatistics s = engine.statistics();
  EXPECT_EQ(s.answered, 2);
  EXPECT_EQ(s.answer_tokens, 16);
  EXPECT_EQ(s.prompt_tokens, 2 * std::ssize(prompt));
  EXPECT_EQ(s.prompt_tokens_read, std::ssize(prompt) + 1);
  EXPECT_EQ(s.running + s.queued, 0);
}

TEST_F(EngineTest, LikelihoodsComeWithTheTokens) {
  Engine engine(*model, {});
  Job asked = job(4);
  asked.likeliest = 2;
  const auto reply = engine.submit(asked);
  std::vector<ChosenToken> tokens;
  while (auto piece = reply->next(10s)) {
    tokens.insert(tokens.end(), piece->tokens.begin(), piece->tokens.end());
  }
  ASSERT_EQ(tokens.size(), 4u);
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_EQ(tokens[i].token, reply->answer().tokens[i]);
    ASSERT_EQ(tokens[i].likeliest.size(), 2u);
    EXPECT_EQ(tokens[i].likeliest[0].token, tokens[i].token);  // the temperature is 0
    EXPECT_DOUBLE_EQ(tokens[i].likeliest[0].log_probability, tokens[i].log_probability);
    EXPECT_LE(tokens[i].log_probability, 0);
  }
}

// Submitting costs microseconds and answering milliseconds, so the queue is soon full.
TEST_F(EngineTest, TheQueueIsBoundedAndWhoLeavesIsSkipped) {
  Engine engine(*model, {.queue = 2});
  Job lengthy = job(-1);
  lengthy.sampling.bias = {{258, -1000.f}};  // the token that ends
  std::vector<std::shared_ptr<Reply>> replies;
  int status = 0;
  while (status == 0 && replies.size() < 1000) {
    try {
      replies.push_back(engine.submit(lengthy));
    } catch (const Refusal& refusal) {
      status = refusal.status();
    }
  }
  EXPECT_EQ(status, 429);
  EXPECT_EQ(engine.statistics().refused, 1);
  replies.back()->cancel();
  for (const auto& reply : replies) all_of(*reply);
  EXPECT_EQ(replies.front()->end(), ReplyEnd::Answered);
  EXPECT_EQ(replies.back()->end(), ReplyEnd::Cancelled);
  EXPECT_EQ(engine.statistics().running + engine.statistics().queued, 0);
}

TEST_F(EngineTest, TheTimeIsBounded) {
  Engine engine(*model, {.seconds = 0});
  const auto reply = engine.submit(job());
  EXPECT_EQ(all_of(*reply), "");
  EXPECT_EQ(reply->end(), ReplyEnd::NeverStarted);
  EXPECT_TRUE(reply->never_started());
  EXPECT_EQ(engine.statistics().late, 1);
}

TEST_F(EngineTest, JobsThatCannotBeServedAreRefused) {
  Engine engine(*model, {.context = 32});
  Job empty = job(), foreign = job(), lengthy = job(), wrong = job();
  empty.prompt = {};
  foreign.prompt = {100000};
  lengthy.prompt.assign(32, 1);
  wrong.sampling.top_p = 7;
  for (const Job& bad : {empty, foreign, lengthy, wrong}) EXPECT_EQ(status_of(engine, bad), 400);
}

TEST_F(EngineTest, AnswersAreBoundedByTheServer) {
  Engine engine(*model, {.max_tokens = 3});
  const auto reply = engine.submit(job(-1));
  all_of(*reply);
  EXPECT_LE(reply->answer().tokens.size(), 3u);
}

TEST_F(EngineTest, FinishesWhatIsThereAndTakesNoMore) {
  Engine engine(*model, {});
  const auto first = engine.submit(job()), second = engine.submit(job());
  engine.finish();
  EXPECT_EQ(first->end(), ReplyEnd::Answered);
  EXPECT_EQ(second->end(), ReplyEnd::Answered);
  EXPECT_EQ(status_of(engine, job()), 503);
}

// One generator answers the questions one after the other, the engine many at once.
TEST_F(EngineTest, AnswersDoNotDependOnWhoElseIsAnswered) {
  std::vector<Job> jobs;
  std::vector<Answer> alone;
  for (int i = 0; i < 12; i++) {
    Job each = job(4 + 3 * i);
    each.prompt = model->tokenizer.encode(std::string(static_cast<std::size_t>(1 + 7 * i), 'a') +
                                          " and others " + std::to_string(i % 4));
    Generator generator(model->transformer, {.context = 128});
    alone.push_back(answer(*model, generator, each.prompt,
                           {.sampling = each.sampling, .max_tokens = each.max_tokens}));
    jobs.push_back(std::move(each));
  }
  for (const std::int64_t parallel : {1, 3, 8}) {
    Engine engine(*model, {.context = 128, .parallel = parallel});
    std::vector<std::shared_ptr<Reply>> replies;
    for (const Job& each : jobs) replies.push_back(engine.submit(each));
    for (std::size_t i = 0; i < jobs.size(); i++) {
      EXPECT_EQ(all_of(*replies[i]), alone[i].text);
      EXPECT_EQ(replies[i]->answer().tokens, alone[i].tokens) << i << " of " << parallel;
    }
  }
}

// Each choice is what one gets who asks with its seed, and the prompt is read once.
TEST_F(EngineTest, SeveralAnswersToOnePrompt) {
  const std::string lengthy(100, 'a');
  Job several = job(8);
  several.prompt = model->tokenizer.encode(lengthy);
  several.sampling = {.temperature = 1, .seed = 5};
  several.choices = 5;
  std::vector<std::vector<TokenId>> alone;
  {
    Engine engine(*model, {.context = 128});
    for (std::int64_t i = 0; i < several.choices; i++) {
      Job one = several;
      one.choices = 1;
      one.sampling.seed += static_cast<std::uint64_t>(i);
      const auto reply = engine.submit(one);
      all_of(*reply);
      alone.push_back(reply->answer().tokens);
    }
  }
  for (const std::int64_t parallel : {2, 8}) {
    Engine engine(*model, {.context = 128, .parallel = parallel});
    const auto reply = engine.submit(several);
    std::vector<std::string> texts(5);
    std::size_t ends = 0;
    while (auto piece = reply->next(10s)) {
      texts[piece->choice] += piece->text;
      ends += piece->is_last;
    }
    EXPECT_EQ(ends, 5u);
    for (std::size_t i = 0; i < 5; i++) {
      EXPECT_EQ(reply->answer(i).tokens, alone[i]) << i << " of " << parallel;
      EXPECT_EQ(reply->answer(i).text, texts[i]);
    }
    const EngineStatistics s = engine.statistics();
    EXPECT_EQ(s.answered, 5);
    EXPECT_EQ(s.prompt_tokens_read, std::ssize(several.prompt) + 4);
  }
}

TEST_F(EngineTest, AnswersThatMayNotWaitAreRefused) {
  Engine engine(*model, {.queue = 3});
  Job several = job();
  several.choices = 4;
  EXPECT_EQ(status_of(engine, several), 400);
  several.choices = 3;
  const auto reply = engine.submit(several);
  reply->cancel();
  all_of(*reply);
  for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(reply->end(i), ReplyEnd::Cancelled);
}

TEST_F(EngineTest, AShortAnswerDoesNotWaitForALongOne) {
  Engine engine(*model, {.parallel = 2});
  Job lengthy = job(-1);
  lengthy.sampling.bias = {{258, -1000.f}};  // the token that ends
  const auto first = engine.submit(lengthy), second = engine.submit(job(2));
  all_of(*second);
  EXPECT_EQ(second->end(), ReplyEnd::Answered);
  EXPECT_EQ(engine.statistics().running, 1);
  first->cancel();
  all_of(*first);
  EXPECT_EQ(first->end(), ReplyEnd::Cancelled);
  EXPECT_EQ(engine.statistics().running, 0);
}

// A thousand requests of eight threads, a third of which leave in the middle.
TEST_F(EngineTest, ManyComeAndGo) {
  Engine engine(*model, {.context = 128, .parallel = 4, .queue = 1000});
  const std::vector<std::string> texts{"abba", "abba and others", "b", "others and abba"};
  std::vector<std::string> expected;
  for (const std::string& text : texts) {
    Generator generator(model->transformer, {.context = 128});
    expected.push_back(answer(*model, generator, model->tokenizer.encode(text),
                              {.sampling = {.temperature = 0}, .max_tokens = 6})
                           .text);
  }
  std::atomic<int> wrong = 0, answered = 0, left = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 125; i++) {
        const auto which = static_cast<std::size_t>(i + t) % texts.size();
        Job each = job(6);
        each.prompt = model->tokenizer.encode(texts[which]);
        const auto reply = engine.submit(each);
        if (i % 3 == 0) {
          reply->next(10s);
          reply->cancel();
          left++;
          continue;
        }
        wrong += all_of(*reply) != expected[which];
        answered += reply->end() == ReplyEnd::Answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  engine.finish();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(answered + left, 1000);
  const EngineStatistics s = engine.statistics();
  EXPECT_EQ(s.answered + s.cancelled, 1000);
  EXPECT_GE(s.answered, answered.load());
  EXPECT_EQ(s.running + s.queued + s.failed + s.late, 0);
}

}  // namespace
}  // namespace croze::llm::serve
