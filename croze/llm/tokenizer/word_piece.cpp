#include "croze/llm/tokenizer/word_piece.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::llm {

WordPieceModel::WordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options)
    : Model(std::move(vocabulary), options.unknown, false),
      max_word_chars_(options.max_word_chars) {
  check(unknown() != no_token, "the vocabulary has no token for what is unknown");
  this->vocabulary().for_each([&](TokenId id, std::string_view text) {
    beginnings_.add(text, id);
    if (text.starts_with(options.prefix)) {
      continuations_.add(text.substr(options.prefix.size()), id);
    }
  });
}

void WordPieceModel::tokenize(std::string_view word, std::vector<TokenId>& ids) const {
  const auto begins_char = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  if (std::ranges::count_if(word, begins_char) > max_word_chars_) {
    return ids.push_back(unknown());
  }
  const std::size_t count_before = ids.size();
  for (std::size_t begin = 0; begin < word.size();) {
    TokenId longest = no_token;
    std::size_t bytes = 0;
    const Trie& pieces = begin == 0 ? beginnings_ : continuations_;
    pieces.prefixes(word.substr(begin), [&](std::size_t length, TokenId id) {
      bytes = length;
      longest = id;
    });
    if (longest == no_token) {
      ids.resize(count_before);
      return ids.push_back(unknown());
    }
    ids.push_back(longest);
    begin += bytes;
  }
}

}  // namespace croze::llm
