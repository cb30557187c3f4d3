// added_tokens.h -- tokens that are found in a text as they are, before it is cut into words.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/trie.h"

namespace croze::llm {

struct AddedToken {
  TokenId id = no_token;
  std::string text;
  bool special = false;                          // for the model, not for readers: "<|endoftext|>"
  bool normalized = false;                       // looked for after the text has been normalized
  bool single_word = false;                      // not beside letters and digits
  bool strip_left = false, strip_right = false;  // takes the space around it
};

// A part of a text: a token, or what lies between two.
struct TextPart {
  std::size_t begin = 0, end = 0;
  TokenId id = no_token;
};

class AddedTokens {
 public:
  // `patterns` are the texts to look for, one for each token.
  AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string>& patterns);
  AddedTokens() = default;

  // All of a text, which is valid UTF-8, from left to right; where several tokens begin, the
  // longest counts.  Without `special` a special token is text like other text.
  std::vector<TextPart> parts(std::string_view text, bool special) const;

 private:
  std::vector<AddedToken> tokens_;
  Trie patterns_;                 // with the index of the token
  std::bitset<256> first_bytes_;  // of patterns
};

}  // namespace croze::llm
