#include "croze/llm/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <string_view>

#include "croze/llm/tokenizer/byte_level.h"
#include "croze/llm/tokenizer/normalizer.h"

namespace croze::llm {
namespace {

std::vector<MatchedPart> parts_by_text(std::string_view text, std::string_view wanted) {
  std::vector<MatchedPart> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(wanted, at), text.size());
    if (at < found) parts.push_back({at, found, false});
    if (found < text.size()) parts.push_back({found, found + wanted.size(), true});
    at = found + wanted.size();
  }
  return parts;
}

std::vector<MatchedPart> turned(std::vector<MatchedPart> parts, bool inverted) {
  for (MatchedPart& part : parts) part.is_match ^= inverted;
  return parts;
}

struct Apply {
  Pieces& pieces;

  void operator()(const SplitPattern& step) const {
    pieces.split(step.behavior, [&](std::string_view text) {
      return turned(step.pattern.parts(text), step.inverted);
    });
  }
  void operator()(const SplitText& step) const {
    pieces.split(step.behavior, [&](std::string_view text) {
      return turned(parts_by_text(text, step.text), step.inverted);
    });
  }
  void operator()(const SplitChars& step) const {
    pieces.split(step.behavior,
                 [&](std::string_view text) { return parts_by_char(text, step.matches); });
  }
  void operator()(const PrefixSpace&) const {
    pieces.rewrite([](std::string_view text, bool, std::string& result) {
      if (!text.starts_with(' ')) result += ' ';
      result += text;
    });
  }
  void operator()(const ToBytes&) const {
    pieces.rewrite([](std::string_view text, bool, std::string& result) {
      append_bytes_as_chars(text, result);
    });
  }
  void operator()(const Metaspace& step) const {
    pieces.rewrite([&](std::string_view text, bool at_start, std::string& result) {
      const std::string marked = replaced(text, " ", step.mark);
      const bool wants =
          step.prefix == Prefix::Always || (step.prefix == Prefix::First && at_start);
      if (wants && !marked.starts_with(step.mark)) result += step.mark;
      result += marked;
    });
    if (!step.splits) return;
    pieces.split(SplitBehavior::MergedWithNext,
                 [&](std::string_view text) { return parts_by_text(text, step.mark); });
  }
};

void give(const Pieces& pieces, const PreTokenizer::TakeWord& take) {
  for (std::size_t i = 0; i < pieces.size(); i++) take(pieces[i]);
}

}  // namespace

void PreTokenizer::split(Pieces& pieces, std::size_t first_step) const {
  for (std::size_t i = first_step; i < steps_.size(); i++) std::visit(Apply{pieces}, steps_[i]);
}

void PreTokenizer::each_word(std::string text, bool at_start, const TakeWord& take) const {
  if (!steps_.empty()) {
    const auto* pattern = std::get_if<SplitPattern>(&steps_[0]);
    if (pattern && pattern->behavior == SplitBehavior::Isolated) {
      return each_matched(*pattern, text, at_start, take);
    }
    const auto* chars = std::get_if<SplitChars>(&steps_[0]);
    if (chars &&
        (chars->behavior == SplitBehavior::Isolated || chars->behavior == SplitBehavior::Removed)) {
      return each_between(*chars, text, at_start, take);
    }
  }
  Pieces pieces(std::move(text), at_start);
  split(pieces);
  give(pieces, take);
}

void PreTokenizer::each_matched(const SplitPattern& first, const std::string& text, bool at_start,
                                const TakeWord& take) const {
  constexpr std::size_t words_at_once = 1000;
  Regex::Walk walk(first.pattern, text);
  while (true) {
    std::vector<MatchedPart> parts = walk.next(words_at_once);
    if (parts.empty()) return;
    const std::size_t begin = parts.front().begin;
    Pieces pieces(text.substr(begin, parts.back().end - begin), at_start && begin == 0);
    for (MatchedPart& part : parts) part = {part.begin - begin, part.end - begin, part.is_match};
    pieces.split(SplitBehavior::Isolated, [&](std::string_view) { return std::move(parts); });
    split(pieces, 1);
    give(pieces, take);
  }
}

// Behind a character at which the first step cuts begins another piece, whatever stands before it.
void PreTokenizer::each_between(const SplitChars& first, const std::string& text, bool at_start,
                                const TakeWord& take) const {
  constexpr std::size_t bytes_at_once = 8 << 10;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    bool is_cut = false;
    while (end < text.size() && !(is_cut && end - begin >= bytes_at_once)) {
      is_cut = first.matches(next_char(text, end));
    }
    Pieces pieces(text.substr(begin, end - begin), at_start && begin == 0);
    split(pieces);
    give(pieces, take);
  }
}

}  // namespace croze::llm
