#include "croze/llm/serve/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <variant>

#include "croze/llm/serve/refusal.h"
#include "croze/llm/serve/writer.h"

namespace croze::llm::serve {
namespace {

using Clock = std::chrono::steady_clock;
using Vector = std::vector<float>;

constexpr std::size_t texts_a_turn = 16;

// The first so many numbers alone, again of length 1: what models are trained for whose vectors can
// be cut.
void shorten(Vector& vector, std::int64_t dimensions) {
  vector.resize(static_cast<std::size_t>(dimensions));
  double square = 0;
  for (const float x : vector) square += static_cast<double>(x) * static_cast<double>(x);
  const double length = std::max(std::sqrt(square), 1e-12);
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) / length);
}

}  // namespace

class EmbeddingService::Running : public Exchange {
 public:
  Running(EmbeddingService& service, std::vector<std::vector<TokenId>> texts,
          const EmbeddingRequest& request, std::string name)
      : service_(service),
        texts_(std::move(texts)),
        dimensions_(request.dimensions),
        is_base64_(request.is_base64),
        name_(std::move(name)) {
    service_.enter();
    const std::chrono::duration<double> seconds(service.options_.seconds);
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
  }
  ~Running() override {
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < vectors_.size(); i++) tokens += std::ssize(texts_[i]);
    service_.leave(end_, tokens);
  }

  bool is_stream() const override { return false; }

  void wait_until_begun() override {
    while (vectors_.empty()) {
      if (is_late()) {
        end_ = ReplyEnd::NeverStarted;
        throw Refusal(503, "the time for it ran out while it waited");
      }
      take_turn(std::chrono::milliseconds(100));
    }
  }

  std::optional<std::string> next(std::chrono::milliseconds wait) override {
    if (has_ended_) return std::nullopt;
    try {
      if (vectors_.size() < texts_.size()) {
        if (is_late()) return ended(ReplyEnd::TimeLimit, error_body(503, "its time ran out"));
        take_turn(wait);
        return std::string();
      }
      return ended(ReplyEnd::Answered, whole());
    } catch (const std::exception& e) {
      return ended(ReplyEnd::Failed, error_body(500, e.what()));
    }
  }

 private:
  bool is_late() const { return Clock::now() >= deadline_; }

  // The vectors of some more texts, if its turn comes within that time.
  void take_turn(std::chrono::milliseconds wait) {
    const std::unique_lock turn(service_.turn_, wait);
    if (!turn.owns_lock()) return;
    const auto rest = std::span(texts_).subspan(vectors_.size());
    for (Vector& vector :
         service_.embedder_.embed(rest.first(std::min(rest.size(), texts_a_turn)))) {
      if (dimensions_ > 0) shorten(vector, dimensions_);
      vectors_.push_back(std::move(vector));
    }
  }

  std::string whole() const {
    std::int64_t tokens = 0;
    for (const auto& text : texts_) tokens += std::ssize(text);
    return embedding_list(name_, vectors_, is_base64_, tokens);
  }

  std::string ended(ReplyEnd end, std::string body) {
    has_ended_ = true;
    end_ = end;
    return body;
  }

  EmbeddingService& service_;
  const std::vector<std::vector<TokenId>> texts_;
  const std::int64_t dimensions_;
  const bool is_base64_;
  const std::string name_;
  Clock::time_point deadline_;
  std::vector<Vector> vectors_;  // of the first texts
  bool has_ended_ = false;
  ReplyEnd end_ = ReplyEnd::Cancelled;
};

EmbeddingService::EmbeddingService(const LanguageModel& model, const EngineOptions& options)
    : model_(model), options_(options), embedder_(model.transformer, options.context) {}

std::vector<std::vector<TokenId>> EmbeddingService::tokens_of(
    const EmbeddingRequest& request) const {
  std::vector<std::vector<TokenId>> texts;
  for (const auto& input : request.inputs) {
    const auto* text = std::get_if<std::string>(&input);
    texts.push_back(text ? model_.tokenizer.encode(*text) : std::get<std::vector<TokenId>>(input));
    try {
      embedder_.check_text(texts.back());
    } catch (const Error& e) {
      throw Refusal(400, fmt::format("input {}: {}", texts.size() - 1, e.message()), "input");
    }
  }
  return texts;
}

std::unique_ptr<Exchange> EmbeddingService::begin(const EmbeddingRequest& request,
                                                  const std::string& name) {
  if (request.dimensions > embedder_.width()) {
    throw Refusal(400, fmt::format("the vectors have {} dimensions", embedder_.width()),
                  "dimensions");
  }
  return std::make_unique<Running>(*this, tokens_of(request), request, name);
}

void EmbeddingService::enter() {
  if (is_ending_) throw Refusal(503, "the server is being shut down");
  const std::lock_guard lock(mutex_);
  const auto most = static_cast<std::int64_t>(options_.queue) + options_.parallel;
  if (statistics_.running >= most) {
    statistics_.refused++;
    throw Refusal(429, fmt::format("{} requests are there already", statistics_.running));
  }
  statistics_.running++;
}

void EmbeddingService::leave(ReplyEnd end, std::int64_t tokens) {
  const std::lock_guard lock(mutex_);
  statistics_.running--;
  statistics_.prompt_tokens += tokens;
  statistics_.prompt_tokens_read += tokens;
  switch (end) {
    case ReplyEnd::Answered: statistics_.answered++; break;
    case ReplyEnd::TimeLimit:
    case ReplyEnd::NeverStarted: statistics_.late++; break;
    case ReplyEnd::Cancelled: statistics_.cancelled++; break;
    case ReplyEnd::Failed: statistics_.failed++; break;
  }
}

EngineStatistics EmbeddingService::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace croze::llm::serve
