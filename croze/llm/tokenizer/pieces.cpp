#include "croze/llm/tokenizer/pieces.h"

#include <algorithm>
#include <utility>

namespace croze::llm {

Pieces::Pieces(std::string text, bool at_start) : text_(std::move(text)) {
  if (!text_.empty()) spans_.push_back({0, text_.size(), at_start});
}

// A match joins the part before or behind it, but for a match that follows or precedes a match.
std::vector<MatchedPart> Pieces::joined(std::vector<MatchedPart> parts, SplitBehavior behavior) {
  std::vector<MatchedPart> result;
  bool before = false;
  const auto take = [&](const MatchedPart& part, bool joins) {
    if (joins && !result.empty()) {
      result.back().begin = std::min(result.back().begin, part.begin);
      result.back().end = std::max(result.back().end, part.end);
    } else {
      result.push_back(part);
    }
    before = part.is_match;
  };
  switch (behavior) {
    case SplitBehavior::Removed:
      std::erase_if(parts, [](const MatchedPart& p) { return p.is_match; });
      return parts;
    case SplitBehavior::Isolated: return parts;
    case SplitBehavior::Contiguous:
      for (const MatchedPart& p : parts) take(p, p.is_match == before);
      return result;
    case SplitBehavior::MergedWithPrevious:
      for (const MatchedPart& p : parts) take(p, p.is_match && !before);
      return result;
    case SplitBehavior::MergedWithNext:
      for (auto p = parts.rbegin(); p != parts.rend(); ++p) take(*p, p->is_match && !before);
      std::ranges::reverse(result);
      return result;
  }
  return result;
}

void Pieces::append(std::vector<Span>& spans, const Span& whole,
                    const std::vector<MatchedPart>& parts) {
  for (const MatchedPart& p : parts) {
    if (p.begin == p.end) continue;
    spans.push_back({whole.begin + p.begin, whole.begin + p.end, whole.at_start && p.begin == 0});
  }
}

}  // namespace croze::llm
