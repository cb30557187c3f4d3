#include "croze/llm/serve/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {

// ---- a reply ----------------------------------------------------------------------------------

bool Reply::wait_until_begun(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [&] { return has_begun_ || has_ended_; });
}

bool Reply::never_started() const {
  const std::lock_guard lock(mutex_);
  return has_ended_ && end_ == ReplyEnd::NeverStarted;
}

std::optional<Reply::Piece> Reply::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  const auto has_news = [&] { return !pending_.text.empty() || !pending_.tokens.empty(); };
  changed_.wait_for(lock, wait, [&] { return has_news() || has_ended_; });
  if (!has_news() && has_ended_) return std::nullopt;
  return std::exchange(pending_, {});
}

void Reply::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
}

ReplyEnd Reply::end() const {
  const std::lock_guard lock(mutex_);
  ensure(has_ended_, "a reply is asked for its end while it goes on");
  return end_;
}

const Answer& Reply::answer() const {
  const std::lock_guard lock(mutex_);
  ensure(has_ended_, "a reply is asked for its answer while it goes on");
  return answer_;
}

const std::string& Reply::problem() const {
  const std::lock_guard lock(mutex_);
  ensure(has_ended_, "a reply is asked for its problem while it goes on");
  return problem_;
}

bool Reply::goes_on() const {
  if (is_late()) return false;
  const std::lock_guard lock(mutex_);
  return !is_cancelled_;
}

void Reply::begin() {
  const std::lock_guard lock(mutex_);
  has_begun_ = true;
  changed_.notify_all();
}

void Reply::add(std::string_view text, std::vector<ChosenToken> tokens) {
  const std::lock_guard lock(mutex_);
  pending_.text += text;
  std::ranges::move(tokens, std::back_inserter(pending_.tokens));
  changed_.notify_all();
}

void Reply::finish(ReplyEnd end, Answer answer, std::string problem) {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  end_ = end;
  answer_ = std::move(answer);
  problem_ = std::move(problem);
  changed_.notify_all();
}

// ---- the engine -------------------------------------------------------------------------------

Engine::Engine(const LanguageModel& model, const EngineOptions& options)
    : model_(model),
      options_(options),
      generator_(model.transformer, {.context = options.context}),
      texts_(model.tokenizer, model.end_tokens),
      thread_([this] { run(); }) {}

Engine::~Engine() { finish(); }

void Engine::finish() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Engine::check_job(const Job& job) const {
  if (job.prompt.empty()) throw Refusal(400, "the prompt is empty", "prompt");
  const auto is_foreign = [&](TokenId t) { return t < 0 || t >= model_.transformer.vocabulary(); };
  if (const auto found = std::ranges::find_if(job.prompt, is_foreign); found != job.prompt.end()) {
    throw Refusal(400, fmt::format("the model has no token {}", *found), "prompt");
  }
  if (std::ssize(job.prompt) >= context()) {
    throw Refusal(
        400,
        fmt::format("the prompt has {} tokens, and with an answer they must fit a context "
                    "of {}",
                    job.prompt.size(), context()),
        "prompt", "context_length_exceeded");
  }
  try {
    const Sampler sampler(job.sampling);
  } catch (const Error& e) {
    throw Refusal(400, e.message());
  }
}

std::shared_ptr<Reply> Engine::submit(Job job) {
  check_job(job);
  const auto seconds = std::chrono::duration<double>(options_.seconds);
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
  auto reply = std::make_shared<Reply>(deadline);
  const std::lock_guard lock(mutex_);
  if (is_ending_) throw Refusal(503, "the server is being shut down");
  if (queue_.size() >= options_.queue) {
    statistics_.refused++;
    throw Refusal(429, fmt::format("{} requests are waiting already", queue_.size()));
  }
  queue_.push_back({std::move(job), reply});
  changed_.notify_all();
  return reply;
}

void Engine::run() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_ending_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Waiting waiting = std::move(queue_.front());
    queue_.pop_front();
    statistics_.running = 1;
    lock.unlock();
    serve(waiting);
  }
}

// Counted before it is told: who has the end of a reply finds it in the statistics.
void Engine::serve(const Waiting& waiting) {
  Reply& reply = *waiting.reply;
  Answer answer;
  ReplyEnd end = ReplyEnd::Answered;
  std::string problem;
  if (!reply.goes_on()) {
    end = reply.is_late() ? ReplyEnd::NeverStarted : ReplyEnd::Cancelled;
  } else {
    reply.begin();
    try {
      answer = answer_to(waiting);
      if (answer.end == AnswerEnd::Caller) {
        end = reply.is_late() ? ReplyEnd::TimeLimit : ReplyEnd::Cancelled;
      }
    } catch (const std::exception& e) {
      end = ReplyEnd::Failed;
      problem = e.what();
      // What was read may lack keys and values.
      generator_.truncate(0);
    }
  }
  count(end, answer);
  reply.finish(end, std::move(answer), std::move(problem));
}

void Engine::count(ReplyEnd end, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  EngineStatistics& s = statistics_;
  s.running = 0;
  s.answered += end == ReplyEnd::Answered;
  s.late += end == ReplyEnd::TimeLimit || end == ReplyEnd::NeverStarted;
  s.cancelled += end == ReplyEnd::Cancelled;
  s.failed += end == ReplyEnd::Failed;
  s.prompt_tokens += answer.prompt_tokens;
  s.prompt_tokens_read += answer.prompt_read;
  s.answer_tokens += std::ssize(answer.tokens);
  s.prompt_seconds += answer.prompt_seconds;
  s.answer_seconds += answer.answer_seconds;
}

Answer Engine::answer_to(const Waiting& waiting) {
  const auto& [job, reply] = waiting;
  std::vector<ChosenToken> tokens;
  std::optional<GrammarFilter> filter;
  if (job.grammar) filter.emplace(*job.grammar, texts_);
  AnswerOptions options{.sampling = job.sampling, .max_tokens = job.max_tokens, .stop = job.stop};
  if (options_.max_tokens >= 0 &&
      (options.max_tokens < 0 || options.max_tokens > options_.max_tokens)) {
    options.max_tokens = options_.max_tokens;
  }
  options.on_text = [&](std::string_view piece) {
    reply->add(piece, std::exchange(tokens, {}));
    return true;
  };
  options.goes_on = [&] { return reply->goes_on(); };
  options.filter = filter ? &*filter : nullptr;
  if (job.likeliest >= 0) {
    options.likeliest = job.likeliest;
    options.on_token = [&](ChosenToken token) { tokens.push_back(std::move(token)); };
  }
  Answer answer = llm::answer(model_, generator_, job.prompt, options);
  if (!tokens.empty()) reply->add("", std::move(tokens));
  return answer;
}

EngineStatistics Engine::statistics() const {
  const std::lock_guard lock(mutex_);
  EngineStatistics result = statistics_;
  result.queued = std::ssize(queue_);
  return result;
}

}  // namespace croze::llm::serve
