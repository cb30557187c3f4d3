// unigram.h -- pieces with scores: a word becomes those with the highest sum.
#pragma once

#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/model.h"
#include "croze/llm/tokenizer/trie.h"

namespace croze::llm {

struct UnigramOptions {
  TokenId unknown = no_token;
  bool byte_fallback = false;
};

class UnigramModel : public Model {
 public:
  // `scores` are those of tokens 0, 1, ..; `takes_part` says which of them are pieces of words.
  UnigramModel(Vocabulary vocabulary, std::vector<double> scores,
               const std::vector<bool>& takes_part, const UnigramOptions& options);

  // Neighbours that are unknown are one token.  Throws Error for what is unknown if no token stands
  // for it.
  void tokenize(std::string_view word, std::vector<TokenId>& ids) const override;

 private:
  std::vector<double> scores_;
  double unknown_score_ = 0;
  Trie pieces_;
};

}  // namespace croze::llm
