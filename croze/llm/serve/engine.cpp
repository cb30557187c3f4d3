// engine.cpp -- replies, and the thread that steps through all that runs.
#include "croze/llm/serve/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "croze/llm/generate/answering.h"
#include "croze/llm/generate/chunks.h"
#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {

// ---- a reply ----------------------------------------------------------------------------------

bool Reply::wait_until_begun(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [&] { return has_begun_ || has_ended(); });
}

bool Reply::never_started() const {
  const std::lock_guard lock(mutex_);
  return has_ended() && !has_begun_ && choices_[0].end == ReplyEnd::NeverStarted;
}

std::optional<Reply::Piece> Reply::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  const auto all_told = [&] { return std::ranges::all_of(choices_, &Choice::was_told); };
  const auto with_news = [&] { return std::ranges::find_if(choices_, &Choice::has_news); };
  changed_.wait_for(lock, wait, [&] { return with_news() != choices_.end() || all_told(); });
  const auto found = with_news();
  if (found == choices_.end()) return all_told() ? std::nullopt : std::optional<Piece>(Piece());
  Piece piece = std::exchange(found->pending, {});
  piece.choice = static_cast<std::size_t>(found - choices_.begin());
  piece.is_last = found->was_told = found->has_ended;
  return piece;
}

void Reply::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
}

bool Reply::has_ended() const { return std::ranges::all_of(choices_, &Choice::has_ended); }

const Reply::Choice& Reply::ended(std::size_t choice) const {
  ensure(choices_.at(choice).has_ended, "a reply is asked for its end while it goes on");
  return choices_[choice];
}

ReplyEnd Reply::end(std::size_t choice) const {
  const std::lock_guard lock(mutex_);
  return ended(choice).end;
}

const Answer& Reply::answer(std::size_t choice) const {
  const std::lock_guard lock(mutex_);
  return ended(choice).answer;
}

const std::string& Reply::problem(std::size_t choice) const {
  const std::lock_guard lock(mutex_);
  return ended(choice).problem;
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

void Reply::add(std::size_t choice, std::string_view text, std::vector<ChosenToken> tokens) {
  const std::lock_guard lock(mutex_);
  Piece& pending = choices_.at(choice).pending;
  pending.text += text;
  std::ranges::move(tokens, std::back_inserter(pending.tokens));
  changed_.notify_all();
}

void Reply::finish(std::size_t choice, ReplyEnd end, Answer answer, std::string problem) {
  const std::lock_guard lock(mutex_);
  Choice& of = choices_.at(choice);
  of.has_ended = true;
  of.end = end;
  of.answer = std::move(answer);
  of.problem = std::move(problem);
  changed_.notify_all();
}

// ---- the engine -------------------------------------------------------------------------------

struct Engine::Running {
  using Clock = std::chrono::steady_clock;

  Waiting waiting = {};
  std::optional<std::size_t> number = {};  // of the text, once something of it is read
  std::int64_t known = 0;                  // tokens of the prompt that were read before
  std::optional<GrammarFilter> filter = {};
  std::vector<ChosenToken> tokens = {};  // those that no text was told with yet
  std::optional<Answering> answering = {};
  std::optional<TokenId> next = {};  // to be read, behind the prompt
  bool is_done = false;
  Clock::time_point begun = Clock::now(), first = begun;  // and when the prompt was read

  // What is to be read of the prompt.
  std::span<const TokenId> rest_of_prompt(const BatchGenerator& batch) const {
    const std::span<const TokenId> prompt = waiting.job->prompt;
    const std::size_t read = number ? batch.tokens(*number).size() : 0;
    return prompt.subspan(std::min(read, prompt.size()));
  }
};

Engine::Engine(const LanguageModel& model, const EngineOptions& options)
    : model_(model),
      options_(options),
      batch_(model.transformer, {.context = options.context,
                                 .texts = options.parallel,
                                 .cache_type = options.cache_type}),
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
  if (job.choices < 1 || static_cast<std::size_t>(job.choices) > options_.queue) {
    throw Refusal(400, fmt::format("1 to {} answers can be had", options_.queue), "n");
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
  const auto choices = static_cast<std::size_t>(job.choices);
  auto reply = std::make_shared<Reply>(deadline, choices);
  const auto shared = std::make_shared<const Job>(std::move(job));
  const std::lock_guard lock(mutex_);
  if (is_ending_) throw Refusal(503, "the server is being shut down");
  if (queue_.size() + choices > options_.queue) {
    statistics_.refused += static_cast<std::int64_t>(choices);
    throw Refusal(429, fmt::format("{} requests are waiting already", queue_.size()));
  }
  for (std::size_t i = 0; i < choices; i++) queue_.push_back({shared, i, reply});
  changed_.notify_all();
  return reply;
}

void Engine::run() {
  while (admit()) step();
}

// Takes what waits, as far as there are places.  False if there is nothing to do any more.
bool Engine::admit() {
  const auto places = static_cast<std::size_t>(options_.parallel);
  std::vector<Waiting> taken;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_ending_ || !queue_.empty() || !running_.empty(); });
    while (!queue_.empty() && running_.size() + taken.size() < places) {
      taken.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    statistics_.running += std::ssize(taken);
    if (taken.empty() && running_.empty()) return false;
  }
  for (Waiting& waiting : taken) begin(std::move(waiting));
  return true;
}

void Engine::begin(Waiting waiting) {
  Reply& reply = *waiting.reply;
  if (!reply.goes_on()) {
    return report(waiting, reply.is_late() ? ReplyEnd::NeverStarted : ReplyEnd::Cancelled, {});
  }
  reply.begin();
  auto running = std::make_unique<Running>();
  running->waiting = std::move(waiting);
  const Job& job = *running->waiting.job;
  try {
    if (job.grammar) running->filter.emplace(*job.grammar, texts_);
    running->answering.emplace(model_, options_for(*running));
  } catch (const std::exception& e) {
    return report(running->waiting, ReplyEnd::Failed, {}, e.what());
  }
  running_.push_back(std::move(running));
}

AnswerOptions Engine::options_for(Running& running) const {
  const Job& job = *running.waiting.job;
  AnswerOptions options{.sampling = job.sampling, .max_tokens = job.max_tokens, .stop = job.stop};
  options.sampling.seed += running.waiting.choice;
  if (options_.max_tokens >= 0 &&
      (options.max_tokens < 0 || options.max_tokens > options_.max_tokens)) {
    options.max_tokens = options_.max_tokens;
  }
  options.on_text = [&running](std::string_view piece) {
    const Waiting& waiting = running.waiting;
    waiting.reply->add(waiting.choice, piece, std::exchange(running.tokens, {}));
    return true;
  };
  options.goes_on = [&running] { return running.waiting.reply->goes_on(); };
  options.filter = running.filter ? &*running.filter : nullptr;
  if (job.likeliest >= 0) {
    options.likeliest = job.likeliest;
    options.on_token = [&running](ChosenToken token) {
      running.tokens.push_back(std::move(token));
    };
  }
  return options;
}

// Those that have waited longest for a chunk of their prompt stand first.
void Engine::step() {
  for (const auto& running : running_) {
    if (!running->answering->goes_on()) finish(*running);
  }
  read_prompt();
  read_answers();
  std::erase_if(running_, [](const auto& running) { return running->is_done; });
}

// The first answer to a prompt reads it; the others find all but its last token read.
bool Engine::can_read_prompt(const Running& running) const {
  const auto reads = [&](const Running& r) {
    return !r.is_done && !r.rest_of_prompt(batch_).empty();
  };
  const auto reads_for_it = [&](const auto& other) {
    return other->waiting.reply == running.waiting.reply && other->number && reads(*other);
  };
  return reads(running) && (running.number || std::ranges::none_of(running_, reads_for_it));
}

void Engine::join(Running& running) {
  running.number = batch_.join(running.waiting.job->prompt);
  running.known = std::ssize(batch_.tokens(*running.number));
}

void Engine::read_prompt() {
  const auto found = std::ranges::find_if(
      running_, [&](const auto& running) { return can_read_prompt(*running); });
  if (found == running_.end()) return;
  Running& running = **found;
  std::rotate(found, found + 1, running_.end());
  try {
    if (!running.number) join(running);
    const std::span<const TokenId> rest = running.rest_of_prompt(batch_);
    // Nobody waits for the end of a long chunk where nobody else is served.
    const std::int64_t most = running_.size() > 1 ? chunk : long_chunk;
    const auto count = std::min(rest.size(), static_cast<std::size_t>(most));
    batch_.read_chunk(*running.number, rest.first(count));
    if (count == rest.size()) {
      running.first = Running::Clock::now();
      go_on(running);
    }
  } catch (const std::exception& e) {
    fail(running, e);
  }
}

void Engine::read_answers() {
  std::vector<BatchGenerator::Next> tokens;
  std::vector<Running*> readers;
  for (const auto& running : running_) {
    if (running->is_done || !running->next) continue;
    tokens.push_back({*running->number, *running->next});
    readers.push_back(running.get());
  }
  if (tokens.empty()) return;
  try {
    batch_.read_each(tokens);
  } catch (const std::exception& e) {
    for (Running* running : readers) fail(*running, e);
    return;
  }
  for (Running* running : readers) go_on(*running);
}

void Engine::go_on(Running& running) {
  try {
    running.next =
        running.answering->next(batch_.scores(*running.number), batch_.tokens(*running.number),
                                batch_.room(*running.number));
    if (!running.next) finish(running);
  } catch (const std::exception& e) {
    fail(running, e);
  }
}

void Engine::finish(Running& running) {
  const Waiting& waiting = running.waiting;
  const auto now = Running::Clock::now();
  const bool has_begun = running.first != running.begun;
  const auto seconds = [](Running::Clock::duration d) {
    return std::chrono::duration<double>(d).count();
  };
  Answer answer = running.answering->finish();
  answer.prompt_tokens = std::ssize(waiting.job->prompt);
  answer.prompt_read = answer.prompt_tokens - running.known;
  answer.prompt_seconds = seconds((has_begun ? running.first : now) - running.begun);
  answer.answer_seconds = has_begun ? seconds(now - running.first) : 0;
  if (!running.tokens.empty()) {
    waiting.reply->add(waiting.choice, "", std::exchange(running.tokens, {}));
  }
  ReplyEnd end = ReplyEnd::Answered;
  if (answer.end == AnswerEnd::Caller) {
    end = waiting.reply->is_late() ? ReplyEnd::TimeLimit : ReplyEnd::Cancelled;
  }
  if (running.number) batch_.leave(*running.number);
  running.is_done = true;
  report(waiting, end, std::move(answer));
}

// What was read last may lack keys and values.
void Engine::fail(Running& running, const std::exception& problem) {
  if (running.is_done) return;
  if (running.number) batch_.leave(*running.number, false);
  running.is_done = true;
  report(running.waiting, ReplyEnd::Failed, {}, problem.what());
}

// Counted before it is told: who has the end of a reply finds it in the statistics.
void Engine::report(const Waiting& waiting, ReplyEnd end, Answer answer, std::string problem) {
  count(end, answer);
  waiting.reply->finish(waiting.choice, end, std::move(answer), std::move(problem));
}

void Engine::count(ReplyEnd end, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  EngineStatistics& s = statistics_;
  s.running--;
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

EngineStatistics Engine::statistics() const {
  const std::lock_guard lock(mutex_);
  EngineStatistics result = statistics_;
  result.queued = std::ssize(queue_);
  return result;
}

}  // namespace croze::llm::serve
