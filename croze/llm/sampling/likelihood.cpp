#include "croze/llm/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "croze/base/error.h"

namespace croze::llm {

LogProbabilities::LogProbabilities(std::span<const float> scores) : scores_(scores) {
  check(!scores.empty(), "there are no scores");
  const double highest = std::ranges::max(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - highest);
  logarithm_of_sum_ = highest + std::log(sum);
}

double LogProbabilities::of(TokenId token) const {
  ensure(token >= 0 && token < std::ssize(scores_), "no score of token {}", token);
  return scores_[static_cast<std::size_t>(token)] - logarithm_of_sum_;
}

std::vector<TokenLikelihood> LogProbabilities::likeliest(std::int64_t count) const {
  count = std::clamp<std::int64_t>(count, 0, std::ssize(scores_));
  if (count == 0) return {};
  std::vector<TokenId> tokens(scores_.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto is_before = [&](TokenId a, TokenId b) {
    const double p = of(a), q = of(b);
    return p != q ? p > q : a < b;
  };
  std::ranges::partial_sort(tokens, tokens.begin() + count, is_before);
  std::vector<TokenLikelihood> result;
  for (std::int64_t i = 0; i < count; i++) {
    const TokenId token = tokens[static_cast<std::size_t>(i)];
    result.push_back({.token = token, .log_probability = of(token)});
  }
  return result;
}

}  // namespace croze::llm
