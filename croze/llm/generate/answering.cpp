// answering.cpp -- scores to tokens, tokens to texts, and what ends them.
#include "croze/llm/generate/answering.h"

#include <algorithm>
#include <utility>

namespace croze::llm {
namespace {

ChosenToken described(TokenId token, std::span<const float> scores, std::int64_t likeliest) {
  const LogProbabilities all(scores);
  return {.token = token, .log_probability = all.of(token), .likeliest = all.likeliest(likeliest)};
}

}  // namespace

Answering::Answering(const LanguageModel& model, AnswerOptions options)
    : model_(model),
      options_(std::move(options)),
      sampler_(options_.sampling),
      stream_(model.tokenizer),
      stops_(options_.stop) {}

bool Answering::goes_on() { return !options_.goes_on || options_.goes_on(); }

std::optional<TokenId> Answering::ended(AnswerEnd end) {
  end_ = end;
  return std::nullopt;
}

std::optional<TokenId> Answering::next(std::span<const float> scores, std::span<const TokenId> text,
                                       std::int64_t room) {
  const auto is_long_enough = [&] {
    return options_.max_tokens >= 0 && std::ssize(answer_.tokens) >= options_.max_tokens;
  };
  if (is_long_enough()) return ended(AnswerEnd::Length);
  if (!goes_on()) return ended(AnswerEnd::Caller);
  if (options_.filter && options_.filter->is_finished()) return ended(AnswerEnd::Token);
  const TokenId token = chosen(scores, text);
  if (std::ranges::binary_search(model_.end_tokens, token)) return ended(AnswerEnd::Token);
  if (options_.filter) options_.filter->accept(token);
  if (options_.on_token) options_.on_token(described(token, scores, options_.likeliest));
  answer_.tokens.push_back(token);
  if (!show(stops_.push(stream_.push(token)))) return ended(AnswerEnd::Caller);
  if (room == 0) return ended(AnswerEnd::Context);
  if (is_long_enough()) return ended(AnswerEnd::Length);
  return token;
}

TokenId Answering::chosen(std::span<const float> scores, std::span<const TokenId> text) {
  if (!options_.filter) return sampler_.choose(scores, text);
  std::vector<float> restricted(scores.begin(), scores.end());
  options_.filter->restrict(restricted);
  return sampler_.choose(restricted, text);
}

bool Answering::show(const std::string& piece) {
  answer_.text += piece;
  const bool goes_on = piece.empty() || !options_.on_text || options_.on_text(piece);
  return goes_on && !stops_.is_stopped();
}

Answer Answering::finish() {
  if (end_ != AnswerEnd::Caller) {
    show(stops_.push(stream_.finish()));
    show(stops_.finish());
  }
  answer_.end = stops_.is_stopped() ? AnswerEnd::Stop : end_;
  return std::move(answer_);
}

}  // namespace croze::llm
