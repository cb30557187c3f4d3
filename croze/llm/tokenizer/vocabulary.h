// vocabulary.h -- the texts of tokens and their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

// Tens of thousands of short texts: they stand one behind the other, and tables find their places.
class Vocabulary {
 public:
  // Room for so many.
  void reserve(std::int64_t count);
  // The later one counts, of two with the same text and of two with the same number.  Texts that
  // were given before may move.
  void add(TokenId id, std::string_view text);

  // no_token if there is none.
  TokenId find(std::string_view text) const;
  std::optional<std::string_view> text_of(TokenId id) const;
  // visit(id, text) for each number, in the order in which they were added.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < tokens_.size(); i++) {
      if (place_of(tokens_[i].id) == i) visit(tokens_[i].id, text_at(i));
    }
  }
  // One more than the largest number.
  TokenId end_id() const { return end_id_; }

 private:
  struct Token {
    TokenId id = no_token;
    std::uint32_t begin = 0;  // of its text, which ends where the next one begins
  };
  static constexpr std::uint32_t none = detail::FlatIndex::none;

  std::string_view text_at(std::uint32_t place) const;
  std::uint32_t place_of(std::string_view text) const;
  std::uint32_t place_of(TokenId id) const;

  std::string texts_;
  std::vector<Token> tokens_;
  detail::FlatIndex by_text_, by_id_;  // places in tokens_
  TokenId end_id_ = 0;
};

}  // namespace croze::llm
