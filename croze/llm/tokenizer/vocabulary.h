// vocabulary.h -- the texts of tokens and their numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "croze/base/flat_map.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

class Vocabulary {
 public:
  // Room for so many.
  void reserve(std::int64_t count);
  // The later one counts, of two with the same text and of two with the same number.
  void add(TokenId id, std::string text);

  // no_token if there is none.
  TokenId find(std::string_view text) const;
  // Null if there is none.
  const std::string* text_of(TokenId id) const;
  std::int64_t size() const { return ids_.size(); }
  // The numbers, each with a pointer to its text, in the order in which they were added.
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }
  // One more than the largest number.
  TokenId end_id() const { return end_id_; }

 private:
  std::deque<std::string> texts_;  // where they stay
  std::unordered_map<std::string_view, TokenId> by_text_;
  FlatMap<TokenId, const std::string*> ids_;
  TokenId end_id_ = 0;
};

}  // namespace croze::llm
