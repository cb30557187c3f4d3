// normalizer.h -- what is done to a text before it is cut: a list of steps.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "croze/llm/tokenizer/charsmap.h"
#include "croze/llm/tokenizer/regex.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {

// The steps.  Each takes valid UTF-8 and gives it.
struct ToNormalForm {
  NormalForm form = NormalForm::C;
};
struct Lowercase {};
struct StripAccents {};  // removes marks
struct StripSpaces {
  bool left = true, right = true;
  bool only_plain = false;  // U+0020 and no other whitespace
};
struct Prepend {  // to a text that is not empty
  std::string text;
};
struct ReplaceText {
  std::string from, to;
};
struct ReplacePattern {
  Regex from;
  std::string to;
};
struct ReplaceChars {
  Charsmap table;
};
struct BytesAsChars {};
struct BertText {
  bool clean = true;      // control characters are removed, all space becomes ' '
  bool space_cjk = true;  // spaces are put around Chinese characters
  bool strip_accents = true;
  bool lowercase = true;
};

using NormalizerStep =
    std::variant<ToNormalForm, Lowercase, StripAccents, StripSpaces, Prepend, ReplaceText,
                 ReplacePattern, ReplaceChars, BytesAsChars, BertText>;

class Normalizer {
 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  // Throws Error if replacements make of the text one that is out of proportion.
  std::string normalized(std::string text) const;

 private:
  std::vector<NormalizerStep> steps_;
};

// `text` with each `from` replaced; `from` is not empty.  Throws Error if that gets too long.
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::size_t max_bytes = std::numeric_limits<std::size_t>::max());

}  // namespace croze::llm
