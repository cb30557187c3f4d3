// word_cache.h -- the words that came before in a text, with their tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/llm/tokenizer/model.h"

namespace croze::llm {

// Bounded: a text has more words than should be kept.  What is kept stands one behind the other,
// since a text has too many words for memory of their own.
class WordCache {
 public:
  // Appends the tokens of a word.  All calls are for one list of tokens, of which those that were
  // appended before stay where they are, and for one model.
  void append(const Model& model, std::string_view word, std::vector<TokenId>& ids);

 private:
  static constexpr std::uint32_t max_words = 1 << 16;
  static constexpr std::size_t max_word_bytes = 64;
  struct Word {
    std::uint32_t text_begin, text_size;  // in texts_
    std::uint32_t count;                  // of tokens
    std::size_t begin;                    // of its tokens in the list
  };

  void append_part(const Model& model, std::string_view part, std::vector<TokenId>& ids);

  std::string texts_;
  std::vector<Word> words_;
  detail::FlatIndex by_text_;  // places in words_
};

}  // namespace croze::llm
