// sampler.h -- the choice of the next token by the scores of all.
//
//     llm::Sampler sampler({.temperature = 0.8, .top_p = 0.95, .seed = 7});
//     llm::TokenId token = sampler.choose(scores, tokens_so_far);
//
// The steps are taken in the order in which the options stand, which is that of llama.cpp: biases
// and penalties change scores; top_k, top_p and min_p leave unlikely tokens out; the temperature
// flattens what is left, and one token is drawn.  For one seed the draws are the same everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

struct SamplingOptions {
  // Added to the scores of tokens; minus infinity forbids one.
  std::map<TokenId, float> bias = {};
  // Tokens among the last `penalty_window` ones: their scores are divided by `repetition_penalty`
  // if positive, else multiplied; `frequency_penalty` is subtracted for each time that they occur
  // and `presence_penalty` once.
  std::int64_t penalty_window = 64;
  double repetition_penalty = 1;
  double frequency_penalty = 0;
  double presence_penalty = 0;
  std::int64_t top_k = 40;   // the k likeliest; 0: all
  double top_p = 0.95;       // the likeliest that are together at least so likely; 1: all
  double min_p = 0.05;       // those at least so likely, relative to the likeliest; 0: all
  double temperature = 0.8;  // 0: always the likeliest, the first of equals
  std::uint64_t seed = 0;
};

class Sampler {
 public:
  // Throws Error for options outside of their range.
  explicit Sampler(const SamplingOptions& options = {});

  // A token for these scores, behind these tokens.  Throws Error if there are no scores, if one is
  // NaN, or if biases forbid all tokens.
  TokenId choose(std::span<const float> scores, std::span<const TokenId> before);

 private:
  struct Candidate {
    TokenId token;
    double score;
  };

  void penalize(std::vector<double>& scores, std::span<const TokenId> before) const;
  void keep_likely(std::vector<Candidate>& candidates) const;
  TokenId draw(const std::vector<Candidate>& candidates);

  SamplingOptions options_;
  std::mt19937_64 random_;
};

}  // namespace croze::llm
