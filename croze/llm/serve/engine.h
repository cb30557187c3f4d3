// engine.h -- one model that answers several requests at once, for any number of threads that ask.
//
//     serve::Engine engine(*model, {.context = 4096});
//     std::shared_ptr<serve::Reply> reply = engine.submit({.prompt = tokens});
//     while (auto piece = reply->next(std::chrono::seconds(1))) std::fputs(piece->text.c_str(),
//     stdout);
//
// Requests wait in a queue of bounded length until one of the places is free.  Each step reads a
// token of every answer and a chunk of one prompt, so a long prompt holds nobody up.  Keys and
// values stay for as long as there is room, so a prompt that begins as another text did, one that
// still grows or one that has ended, costs what is new in it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "croze/llm/generate/batch_generator.h"
#include "croze/llm/generate/language_model.h"
#include "croze/llm/grammar/grammar.h"
#include "croze/llm/grammar/token_mask.h"

namespace croze::llm::serve {

// A prompt and how to go on with it.
struct Job {
  std::vector<TokenId> prompt;
  // Answers to it.  Each draws with a seed of its own, that of `sampling` and its number; the
  // prompt is read once.
  std::int64_t choices = 1;
  SamplingOptions sampling = {};
  std::int64_t max_tokens = -1;
  std::vector<std::string> stop = {};
  std::int64_t likeliest = -1;  // alternatives to name beside each token; negative: no likelihoods
  std::shared_ptr<const Grammar> grammar = nullptr;
};

enum class ReplyEnd : std::uint8_t {
  Answered,
  TimeLimit,     // what was there by then is the answer
  NeverStarted,  // the time ran out in the queue
  Cancelled,     // by the one who asked
  Failed,
};

// What has come of a request so far: written by the engine, read by the one who asked.
class Reply {
 public:
  // Of one of the answers.
  struct Piece {
    std::size_t choice = 0;
    std::string text;
    std::vector<ChosenToken> tokens;  // if likelihoods were asked for
    bool is_last = false;
  };

  Reply(std::chrono::steady_clock::time_point deadline, std::size_t choices)
      : deadline_(deadline), choices_(choices) {}

  std::size_t choices() const { return choices_.size(); }
  // Whether one of its answers has begun, or all have ended; waits so long for that.
  bool wait_until_begun(std::chrono::milliseconds wait);
  // Whether its time ran out in the queue.
  bool never_started() const;
  // What has come of an answer since it was asked for last, or a piece of nothing if that is
  // nothing within the time; none once everything was given.
  std::optional<Piece> next(std::chrono::milliseconds wait);
  // Nobody is interested any more: the engine leaves it at the next token.
  void cancel();

  // These are known behind the last piece of an answer.
  ReplyEnd end(std::size_t choice = 0) const;
  const Answer& answer(std::size_t choice = 0) const;        // its counts, and how it ended
  const std::string& problem(std::size_t choice = 0) const;  // why it failed

 private:
  friend class Engine;
  bool goes_on() const;
  bool is_late() const { return std::chrono::steady_clock::now() >= deadline_; }
  struct Choice {
    Piece pending = {};
    bool has_ended = false, was_told = false;  // that it has
    ReplyEnd end = ReplyEnd::Answered;
    Answer answer = {};
    std::string problem = {};

    bool has_news() const {
      return !pending.text.empty() || !pending.tokens.empty() || (has_ended && !was_told);
    }
  };

  void begin();
  void add(std::size_t choice, std::string_view text, std::vector<ChosenToken> tokens);
  void finish(std::size_t choice, ReplyEnd end, Answer answer, std::string problem);
  bool has_ended() const;
  const Choice& ended(std::size_t choice) const;

  const std::chrono::steady_clock::time_point deadline_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Choice> choices_;
  bool has_begun_ = false, is_cancelled_ = false;
};

struct EngineOptions {
  std::int64_t context = 0;      // tokens, as Config::context_for() has it
  std::int64_t parallel = 4;     // requests that are answered at once; each has its own context
  std::size_t queue = 16;        // answers that may wait
  double seconds = 600;          // that a request may take, with its time in the queue
  std::int64_t max_tokens = -1;  // of any answer; negative: as many as there is room for
  CacheType cache_type = CacheType::Float16;
};

// Counts since the start, and what goes on now; each answer of a request counts.
struct EngineStatistics {
  std::int64_t running = 0, queued = 0;
  std::int64_t answered = 0, late = 0, cancelled = 0, failed = 0, refused = 0;
  std::int64_t prompt_tokens = 0, prompt_tokens_read = 0, answer_tokens = 0;
  double prompt_seconds = 0, answer_seconds = 0;
};

class Engine {
 public:
  // The model must outlive it.  Throws Error as BatchGenerator does.
  Engine(const LanguageModel& model, const EngineOptions& options);
  // As finish().
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Throws Refusal: 400 for a prompt that is empty, does not fit the context or has tokens that the
  // model has not, for more answers than may wait, and for options out of their range; 429 if the
  // queue has no room for all of its answers; 503 after finish().
  std::shared_ptr<Reply> submit(Job job);
  // Refuses what comes from now on, and returns when all that came before is done.
  void finish();

  EngineStatistics statistics() const;
  std::int64_t context() const { return batch_.context(); }
  const EngineOptions& options() const { return options_; }

 private:
  struct Waiting {
    std::shared_ptr<const Job> job;
    std::size_t choice = 0;
    std::shared_ptr<Reply> reply;
  };

  // An answer that is being written.
  struct Running;

  void check_job(const Job& job) const;
  void run();
  bool admit();
  void begin(Waiting waiting);
  AnswerOptions options_for(Running& running) const;
  void step();
  bool can_read_prompt(const Running& running) const;
  void join(Running& running);
  void read_prompt();
  void read_answers();
  // What follows the scores of the text that were read last.
  void go_on(Running& running);
  void finish(Running& running);
  void fail(Running& running, const std::exception& problem);
  void report(const Waiting& waiting, ReplyEnd end, Answer answer, std::string problem = "");
  void count(ReplyEnd end, const Answer& answer);

  const LanguageModel& model_;
  const EngineOptions options_;
  // Of the thread.
  BatchGenerator batch_;
  std::deque<std::unique_ptr<Running>> running_;

  const TokenTexts texts_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> queue_;
  bool is_ending_ = false;
  EngineStatistics statistics_;
  std::thread thread_;
};

}  // namespace croze::llm::serve
