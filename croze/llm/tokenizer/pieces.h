// pieces.h -- a text on its way to the model, cut into pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/tokenizer/regex.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {

// What becomes of the matches of a pattern at which a text is cut.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

class Pieces {
 public:
  // One piece, or none for an empty text.  `at_start`: the text that was given begins with it.
  Pieces(std::string text, bool at_start);

  std::size_t size() const { return spans_.size(); }
  std::string_view operator[](std::size_t i) const {
    return std::string_view(text_).substr(spans_[i].begin, spans_[i].end - spans_[i].begin);
  }

  // Cuts each piece.  parts(text) gives a vector of MatchedPart that cover the text.
  template <typename Parts>
  void split(SplitBehavior behavior, Parts parts) {
    std::vector<Span> result;
    for (std::size_t i = 0; i < spans_.size(); i++) {
      append(result, spans_[i], joined(parts((*this)[i]), behavior));
    }
    spans_ = std::move(result);
  }

  // Writes each piece anew: write(text, at_start, result) appends to `result`.
  template <typename Write>
  void rewrite(Write write) {
    std::string text;
    std::vector<Span> result;
    for (std::size_t i = 0; i < spans_.size(); i++) {
      const std::size_t begin = text.size();
      write((*this)[i], spans_[i].at_start, text);
      if (begin < text.size()) result.push_back({begin, text.size(), spans_[i].at_start});
    }
    text_ = std::move(text);
    spans_ = std::move(result);
  }

 private:
  struct Span {
    std::size_t begin, end;
    bool at_start;
  };
  static std::vector<MatchedPart> joined(std::vector<MatchedPart> parts, SplitBehavior behavior);
  static void append(std::vector<Span>& spans, const Span& whole,
                     const std::vector<MatchedPart>& parts);

  std::string text_;
  std::vector<Span> spans_;
};

// All of a text: the characters for which `matches` holds, each alone, and what lies between them.
template <typename Matches>
std::vector<MatchedPart> parts_by_char(std::string_view text, Matches matches) {
  std::vector<MatchedPart> parts;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    const bool is_match = matches(next_char(text, end));
    if (!is_match && !parts.empty() && !parts.back().is_match) {
      parts.back().end = end;
    } else {
      parts.push_back({begin, end, is_match});
    }
  }
  return parts;
}

}  // namespace croze::llm
