#include "croze/llm/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

std::size_t last_char(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80) at--;
  return at;
}

bool begins_with_word(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && is_word(next_char(text, at));
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && begins_with_word(text.substr(last_char(text)));
}

std::size_t space_before(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t before = last_char(text.substr(0, begin));
    std::size_t at = before;
    if (!is_whitespace(next_char(text, at))) break;
    begin = before;
  }
  return begin;
}

std::size_t space_behind(std::string_view text, std::size_t end) {
  for (std::size_t next = end; end < text.size(); end = next) {
    if (!is_whitespace(next_char(text, next))) break;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string>& patterns)
    : tokens_(std::move(tokens)) {
  for (std::size_t i = 0; i < tokens_.size(); i++) {
    patterns_.add(patterns[i], static_cast<TokenId>(i));
    if (!patterns[i].empty()) first_bytes_.set(static_cast<std::uint8_t>(patterns[i][0]));
  }
}

std::vector<TextPart> AddedTokens::parts(std::string_view text, bool special) const {
  std::vector<TextPart> parts;
  std::size_t done = 0;  // end of the last part
  for (std::size_t at = 0; !patterns_.empty() && at < text.size();) {
    if (!first_bytes_[static_cast<std::uint8_t>(text[at])]) {
      at++;
      continue;
    }
    std::size_t bytes = 0;
    TokenId index = no_token;
    patterns_.prefixes(text.substr(at), [&](std::size_t length, TokenId found) {
      bytes = length;
      index = found;
    });
    if (index == no_token) {
      at++;
      continue;
    }
    std::size_t begin = at, end = at + bytes;
    at = end;
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    if (token.special && !special) continue;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end)))) {
      continue;
    }
    if (token.strip_left) begin = std::max(done, space_before(text.substr(0, begin)));
    if (token.strip_right) end = space_behind(text, end);
    if (done < begin) parts.push_back({done, begin, no_token});
    parts.push_back({begin, end, token.id});
    done = at = end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), no_token});
  return parts;
}

}  // namespace croze::llm
