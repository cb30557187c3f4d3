// regex.cpp -- patterns in the words of PCRE2.
//
// Why PCRE2, and not a matcher of our own for the few known patterns: every new family of models
// brings a pattern of its own, and a tokenizer.json may hold any; a general engine takes them as
// they are.  It takes some 60 ns a word; the merging of words costs more.
#include "croze/llm/tokenizer/regex.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

// White_Space, and what \w is to Oniguruma: to PCRE2 both are slightly different sets.
constexpr std::string_view space_class =
    R"(\t-\r\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view word_class = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

// Scripts: \p{Han} is the script to Oniguruma, and to PCRE2 whatever is used with it, too.
constexpr std::array<std::string_view, 4> scripts = {"{Han}", "{Hiragana}", "{Katakana}",
                                                     "{Hangul}"};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string translated() {
    for (; at_ < pattern_.size(); at_++) {
      const char c = pattern_[at_];
      if (c == '\\') {
        take_escape();
      } else if (in_class_) {
        take_in_class(c);
      } else {
        if (c == '[') enter_class();
        result_ += c;
      }
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail({}, "the pattern {} uses {}, which is not supported", pattern_, what);
  }

  // A `]` right after the beginning stands for itself.
  void enter_class() {
    in_class_ = true;
    class_begin_ = at_ + 1;
    if (pattern_.substr(class_begin_).starts_with('^')) class_begin_++;
  }

  void take_in_class(char c) {
    const bool is_posix = c == '[' && pattern_.substr(at_).starts_with("[:");
    if ((c == '[' && !is_posix) || pattern_.substr(at_).starts_with("&&")) {
      refuse("a class of characters in another one");
    }
    if (is_posix) refuse("a POSIX class");
    if (c == ']' && at_ != class_begin_) in_class_ = false;
    result_ += c;
  }

  void take_escape() {
    check(at_ + 1 < pattern_.size(), "the pattern {} ends with a backslash", pattern_);
    const char c = pattern_[++at_];
    if (c == 's' || c == 'w') return take_set(c == 's' ? space_class : word_class, false);
    if ((c == 'S' || c == 'W') && !in_class_) {
      return take_set(c == 'S' ? space_class : word_class, true);
    }
    if (c == 'h' || c == 'H' || c == 'S' || c == 'W') refuse(std::string("\\") + c);
    result_ += '\\';
    result_ += c;
    if (c != 'p' && c != 'P') return;
    const std::string_view rest = pattern_.substr(at_ + 1);
    const auto* script = std::ranges::find_if(
        scripts, [&](std::string_view name) { return rest.starts_with(name); });
    if (script == scripts.end()) return;
    result_ += "{sc:";
    at_++;  // the brace
  }

  void take_set(std::string_view set, bool negated) {
    if (!in_class_) result_ += negated ? "[^" : "[";
    result_ += set;
    if (!in_class_) result_ += ']';
  }

  std::string_view pattern_;
  std::size_t at_ = 0, class_begin_ = 0;
  bool in_class_ = false;
  std::string result_;
};

// Of a pattern that is not too long to be one.
std::string translated(const std::string& pattern) {
  return pattern.size() > TextPattern::max_bytes ? std::string() : Translator(pattern).translated();
}

}  // namespace

// Oniguruma's ^ and $ are those of lines.
Regex::Regex(const std::string& pattern)
    : shown_(pattern),
      pattern_(translated(pattern), pattern, {.of_unicode = true, .of_lines = true}) {}

std::vector<MatchedPart> Regex::parts(std::string_view text) const {
  return Walk(*this, text).next(std::numeric_limits<std::size_t>::max());
}

Regex::Walk::Walk(const Regex& pattern, std::string_view text)
    : pattern_(pattern), text_(text), matcher_(pattern.pattern_, text) {}

std::vector<MatchedPart> Regex::Walk::next(std::size_t most) {
  std::vector<MatchedPart> parts;
  while (from_ < text_.size() && parts.size() < most) {
    const std::optional<TextMatcher::Range> found = matcher_.find(from_);
    if (!found) break;
    const auto [first, last] = *found;
    check(end_ <= first && first <= last, "the pattern {} matches backwards", pattern_.shown_);
    if (end_ < first) parts.push_back({end_, first, false});
    if (first < last) parts.push_back({first, last, true});
    end_ = from_ = last;
    if (first == last) {  // an empty match: go on behind the next character
      do from_++;
      while (from_ < text_.size() && (static_cast<std::uint8_t>(text_[from_]) & 0xC0) == 0x80);
    }
  }
  if (parts.size() < most && end_ < text_.size()) {  // no match is left
    parts.push_back({end_, text_.size(), false});
    from_ = end_ = text_.size();
  }
  return parts;
}

}  // namespace croze::llm
