// pre_tokenizer.h -- how a text is cut into the words that the model gets: a list of steps.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "croze/llm/tokenizer/pieces.h"
#include "croze/llm/tokenizer/regex.h"

namespace croze::llm {

// The steps.
struct SplitPattern {
  Regex pattern;
  SplitBehavior behavior = SplitBehavior::Isolated;
  bool inverted = false;  // what lies between the matches is what matches
};
struct SplitText {
  std::string text;  // not empty
  SplitBehavior behavior = SplitBehavior::Isolated;
  bool inverted = false;
};
struct SplitChars {
  bool (*matches)(char32_t) = nullptr;
  SplitBehavior behavior = SplitBehavior::Isolated;
};
struct PrefixSpace {};  // a space before each piece that begins with none
struct ToBytes {};      // a character for each byte, as byte_level.h has it
enum class Prefix { Never, First, Always };
struct Metaspace {
  std::string mark = "\u2581";  // stands for a space
  Prefix prefix = Prefix::Always;
  bool splits = true;  // before each mark
};

using PreTokenizerStep =
    std::variant<SplitPattern, SplitText, SplitChars, PrefixSpace, ToBytes, Metaspace>;

class PreTokenizer {
 public:
  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<PreTokenizerStep> steps) : steps_(std::move(steps)) {}

  void split(Pieces& pieces) const { split(pieces, 0); }

  // Gives the words of a text one by one; `at_start` as Pieces has it.  Where a pattern or a kind
  // of characters cuts first, a thousand words or so go through the steps at a time: lists of all
  // words of a long text would take more time for new memory than the steps take.
  using TakeWord = std::function<void(std::string_view)>;
  void each_word(std::string text, bool at_start, const TakeWord& take) const;

 private:
  void split(Pieces& pieces, std::size_t first_step) const;
  void each_matched(const SplitPattern& first, const std::string& text, bool at_start,
                    const TakeWord& take) const;
  void each_between(const SplitChars& first, const std::string& text, bool at_start,
                    const TakeWord& take) const;

  std::vector<PreTokenizerStep> steps_;
};

}  // namespace croze::llm
