// sampler.cpp -- penalties, filters and the draw.
#include "croze/llm/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

void check_options(const SamplingOptions& o) {
  const auto finite = [](double x) { return std::isfinite(x); };
  check(finite(o.temperature) && o.temperature >= 0, "a temperature of {}", o.temperature);
  check(o.top_k >= 0, "a top_k of {}", o.top_k);
  check(o.top_p > 0 && o.top_p <= 1, "a top_p of {}: it lies above 0 and is at most 1", o.top_p);
  check(o.min_p >= 0 && o.min_p <= 1, "a min_p of {}: it lies between 0 and 1", o.min_p);
  check(finite(o.repetition_penalty) && o.repetition_penalty > 0, "a repetition penalty of {}",
        o.repetition_penalty);
  check(finite(o.frequency_penalty) && finite(o.presence_penalty),
        "penalties of {} by frequency and {} by presence", o.frequency_penalty, o.presence_penalty);
  check(o.penalty_window >= 0, "a window of {} tokens for penalties", o.penalty_window);
  for (const auto& [token, bias] : o.bias) {
    check(!std::isnan(bias) && bias < std::numeric_limits<float>::infinity(),
          "a bias of {} for token {}", bias, token);
  }
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) {
  check_options(options);
}

TokenId Sampler::choose(std::span<const float> scores, std::span<const TokenId> before) {
  std::vector<double> changed(scores.begin(), scores.end());
  for (const auto& [token, bias] : options_.bias) {
    if (token >= 0 && token < std::ssize(changed)) {
      changed[static_cast<std::size_t>(token)] += static_cast<double>(bias);
    }
  }
  penalize(changed, before);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < changed.size(); i++) {
    check(!std::isnan(changed[i]), "the score of token {} is NaN", i);
    if (changed[i] == -std::numeric_limits<double>::infinity()) continue;
    candidates.push_back({static_cast<TokenId>(i), changed[i]});
  }
  check(!candidates.empty(), "there is no token to choose from");
  if (options_.temperature == 0) {
    return std::ranges::max_element(candidates, {}, &Candidate::score)->token;
  }
  keep_likely(candidates);
  return draw(candidates);
}

void Sampler::penalize(std::vector<double>& scores, std::span<const TokenId> before) const {
  const auto window = std::min(before.size(), static_cast<std::size_t>(options_.penalty_window));
  std::map<TokenId, int> counts;
  for (const TokenId token : before.last(window)) {
    if (token >= 0 && token < std::ssize(scores)) counts[token]++;
  }
  for (const auto& [token, count] : counts) {
    double& score = scores[static_cast<std::size_t>(token)];
    score = score > 0 ? score / options_.repetition_penalty : score * options_.repetition_penalty;
    score -= count * options_.frequency_penalty + options_.presence_penalty;
  }
}

// Leaves the likely ones, the likeliest first.
void Sampler::keep_likely(std::vector<Candidate>& candidates) const {
  // Equal ones stay in the order of their numbers, so that a seed tells the draw.
  const auto is_before = [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.token < b.token;
  };
  const auto k = static_cast<std::size_t>(options_.top_k);
  if (k > 0 && k < candidates.size()) {
    std::ranges::partial_sort(candidates, candidates.begin() + options_.top_k, is_before);
    candidates.resize(k);
  } else {
    std::ranges::sort(candidates, is_before);
  }
  const auto share = [&](const Candidate& c) { return std::exp(c.score - candidates[0].score); };
  double all = 0;
  for (const Candidate& c : candidates) all += share(c);
  double together = 0;
  std::size_t kept = 0;
  for (; kept < candidates.size() && together < options_.top_p * all; kept++) {
    if (share(candidates[kept]) < options_.min_p) break;
    together += share(candidates[kept]);
  }
  candidates.resize(std::max<std::size_t>(kept, 1));
}

TokenId Sampler::draw(const std::vector<Candidate>& candidates) {
  std::vector<double> sums;
  double sum = 0;
  for (const Candidate& c : candidates) {
    sum += std::exp((c.score - candidates[0].score) / options_.temperature);
    sums.push_back(sum);
  }
  // 53 random bits: what the standard library's distributions draw is not said by the standard.
  const double point = static_cast<double>(random_() >> 11u) * 0x1p-53 * sum;
  const auto chosen = std::ranges::upper_bound(sums, point) - sums.begin();
  return candidates[std::min(static_cast<std::size_t>(chosen), candidates.size() - 1)].token;
}

}  // namespace croze::llm
