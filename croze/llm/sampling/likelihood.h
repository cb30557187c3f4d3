// likelihood.h -- how likely a model thinks each token, of its scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

struct TokenLikelihood {
  TokenId token = no_token;
  double log_probability = 0;  // natural logarithm
};

// The logarithm of the softmax of scores, which must outlive it.
class LogProbabilities {
 public:
  explicit LogProbabilities(std::span<const float> scores);

  // Of a token that has a score.
  double of(TokenId token) const;
  // The likeliest first, of equals that of the smallest number; fewer if there are not so many.
  std::vector<TokenLikelihood> likeliest(std::int64_t count) const;

 private:
  std::span<const float> scores_;
  double logarithm_of_sum_ = 0;
};

}  // namespace croze::llm
