// model.h -- what makes tokens of a word: the kinds of vocabularies.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/vocabulary.h"

namespace croze::llm {

class Model {
 public:
  virtual ~Model() = default;

  // Appends the tokens of a word, which is valid UTF-8 and not empty.  Takes time that grows with
  // the word as n log n at most.
  virtual void tokenize(std::string_view word, std::vector<TokenId>& ids) const = 0;

  // Cuts a long word into parts whose tokens, one behind the other, are those of the word.
  using TakePart = std::function<void(std::string_view)>;
  virtual void each_part(std::string_view word, const TakePart& take) const { take(word); }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // The token of what has none; no_token if there is none.
  TokenId unknown() const { return unknown_; }
  // Whether bytes of what has no token are tokens of their own, "<0xE3>".
  bool has_byte_tokens() const { return byte_fallback_; }

 protected:
  Model(Vocabulary vocabulary, TokenId unknown, bool byte_fallback);

  // Appends the byte tokens of a text; false, and nothing, if one of them is missing.
  bool append_bytes(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  Vocabulary vocabulary_;
  TokenId unknown_;
  bool byte_fallback_;
  std::vector<TokenId> byte_tokens_;  // of all 256, or no_token; empty without byte tokens
};

// The byte that a token "<0x0A>" stands for; -1 if the text is none of these.
int byte_of_token(std::string_view text);

}  // namespace croze::llm
