// word_piece.h -- the longest piece first, as BERT has it; a word that has no pieces is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/model.h"
#include "croze/llm/tokenizer/trie.h"

namespace croze::llm {

struct WordPieceOptions {
  TokenId unknown = no_token;
  std::string prefix = "##";          // of pieces that continue a word
  std::int64_t max_word_chars = 100;  // a longer word is unknown
};

class WordPieceModel : public Model {
 public:
  WordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options);

  void tokenize(std::string_view word, std::vector<TokenId>& ids) const override;

 private:
  std::int64_t max_word_chars_;
  Trie beginnings_, continuations_;  // these without the prefix
};

}  // namespace croze::llm
