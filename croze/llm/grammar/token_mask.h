// token_mask.h -- which tokens a grammar allows next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "croze/llm/grammar/grammar.h"
#include "croze/llm/grammar/matcher.h"
#include "croze/llm/sampling/token_filter.h"
#include "croze/llm/tokenizer/tokenizer.h"

namespace croze::llm {

// The tokens that have a text, by their bytes: neighbours begin alike, and what the first of them
// have in common is read once.
class TokenTexts {
 public:
  struct Entry {
    std::string bytes;
    TokenId token = no_token;
    std::size_t common = 0;  // bytes that it begins with as the entry before does
  };

  // `ends` are the tokens that end an answer.
  TokenTexts(const Tokenizer& tokenizer, std::vector<TokenId> ends);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<TokenId>& ends() const { return ends_; }
  // Null for a token without a text.
  const std::string* bytes_of(TokenId token) const;

 private:
  std::vector<Entry> entries_;
  std::vector<std::int32_t> places_;  // of entries, by token
  std::vector<TokenId> ends_;
};

// Keeps an answer to a grammar.  The answer ends where the grammar lets it and the model wants it,
// or where nothing else is left.
class GrammarFilter : public TokenFilter {
 public:
  // Both must outlive it.
  GrammarFilter(const Grammar& grammar, const TokenTexts& texts);

  // Throws Error if the grammar allows what no token writes, and as GrammarMatcher does.
  void restrict(std::span<float> scores) override;
  void accept(TokenId token) override;
  bool is_finished() const override { return matcher_.must_end(state_); }

 private:
  using Mask = std::vector<bool>;  // by token
  const Mask& mask();
  Mask new_mask();

  const TokenTexts& texts_;
  GrammarMatcher matcher_;
  GrammarMatcher::State state_;
  std::unordered_map<GrammarMatcher::State, Mask> masks_;
  std::int64_t generation_ = 0;  // of the matcher, when these were made
};

}  // namespace croze::llm
