// text_scores.cpp -- rows of a step, and copies of those that are in the way of the next.
#include "croze/llm/generate/text_scores.h"

#include <algorithm>
#include <utility>

namespace croze::llm {

void TextScores::expect(std::vector<std::size_t> texts) {
  for (const std::size_t text : texts_) {
    const bool is_forgotten = text == kept_.size();
    if (is_forgotten || std::ranges::find(texts, text) != texts.end()) continue;
    const std::span<const float> scores = of(text);
    kept_[text].assign(scores.begin(), scores.end());
  }
  for (const std::size_t text : texts) kept_[text].clear();
  texts_ = std::move(texts);
  rows_ = {};
}

std::span<const float> TextScores::of(std::size_t text) const {
  const auto row = std::ranges::find(texts_, text);
  if (row == texts_.end()) return kept_[text];
  const auto number = static_cast<std::size_t>(row - texts_.begin());
  return rows_.span().empty() ? std::span<const float>()
                              : rows_.span().subspan(number * vocabulary_, vocabulary_);
}

void TextScores::forget(std::size_t text) {
  kept_[text].clear();
  std::ranges::replace(texts_, text, kept_.size());  // a number that no text has
}

}  // namespace croze::llm
