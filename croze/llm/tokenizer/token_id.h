// token_id.h -- numbers of tokens, and those that have names.
#pragma once

#include <cstdint>

namespace croze::llm {

// What models compute with: the place of a token in the embedding.
using TokenId = std::int32_t;
inline constexpr TokenId no_token = -1;

// The tokens that are spoken of by their use.  no_token for what a vocabulary lacks, or a file does
// not tell.
struct SpecialTokens {
  TokenId bos = no_token;      // the text begins
  TokenId eos = no_token;      // the text ends
  TokenId eot = no_token;      // the turn in a conversation ends
  TokenId pad = no_token;      // no text
  TokenId unknown = no_token;  // text without a token
};

}  // namespace croze::llm
