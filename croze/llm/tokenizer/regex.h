// regex.h -- regular expressions of tokenizers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/text_pattern.h"

namespace croze::llm {

// A part of a text, and whether the pattern matches it.
struct MatchedPart {
  std::size_t begin = 0, end = 0;
  bool is_match = false;
};

// A pattern as tokenizer.json has it: in the words of Oniguruma's Ruby syntax, over Unicode.
class Regex {
 public:
  // Throws Error for a pattern that is none, or that means something else to PCRE2.
  explicit Regex(const std::string& pattern);

  // All of a text, which is valid UTF-8: the matches, and what lies between.  Throws Error where
  // matching takes too long.
  std::vector<MatchedPart> parts(std::string_view text) const;

  // The parts of a text from its beginning, some at a time.
  class Walk {
   public:
    // The pattern and the text outlive it.
    Walk(const Regex& pattern, std::string_view text);
    // Those that come next, `most` or one more; none where the text has ended.
    std::vector<MatchedPart> next(std::size_t most);

   private:
    const Regex& pattern_;
    std::string_view text_;
    TextMatcher matcher_;
    std::size_t from_ = 0;  // of the search
    std::size_t end_ = 0;   // of the last part
  };

 private:
  std::string shown_;
  TextPattern pattern_;
};

}  // namespace croze::llm
