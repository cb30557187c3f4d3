// text_pattern.h -- regular expressions, matched by PCRE2 within limits.
//
// Its interpreter is fast enough, so the compiler to machine code stays off: patterns come from
// files, and what a file says should not become code.  Time and memory of a match are limited,
// linearly in the text.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace croze {

class TextPattern {
 public:
  static constexpr std::size_t max_bytes = 1 << 14;

  struct Meaning {
    bool of_unicode = false;  // \w, \d, \b and classes by name, not of ASCII alone
    bool of_lines = false;    // ^ and $, not of the whole text
  };

  // `expression` is in PCRE2's words and over UTF-8, `shown` what stands for it in errors.  Throws
  // Error if it is no pattern, or too long.
  TextPattern(const std::string& expression, std::string shown, Meaning meaning);
  ~TextPattern();
  TextPattern(TextPattern&& other) noexcept;
  TextPattern& operator=(TextPattern&& other) noexcept;

 private:
  friend class TextMatcher;
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

// Matches in one text.  Throw Error where matching takes too long, or the text is no UTF-8.
class TextMatcher {
 public:
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  // Both outlive it.
  TextMatcher(const TextPattern& pattern, std::string_view text);
  ~TextMatcher();
  TextMatcher(const TextMatcher&) = delete;
  TextMatcher& operator=(const TextMatcher&) = delete;

  // The first match that begins at this byte or behind it.
  std::optional<Range> find(std::size_t from);
  // Whether the whole text is a match.
  bool is_all();

 private:
  struct State;
  bool match(std::size_t from, unsigned options);

  const TextPattern::Compiled& compiled_;
  std::string_view text_;
  std::unique_ptr<State> state_;
};

}  // namespace croze
