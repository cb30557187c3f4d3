// bpe.h -- byte-pair encoding: characters, of which neighbours are merged in the order of a list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/llm/tokenizer/model.h"

namespace croze::llm {

// Two tokens become one; of several merges that are possible the lowest rank comes first, and of
// equal ranks the leftmost.
struct Merge {
  TokenId left = no_token, right = no_token, merged = no_token;
  std::uint32_t rank = 0;
};

struct BpeOptions {
  TokenId unknown = no_token;
  bool fuse_unknown = false;   // neighbours that are unknown become one token
  bool byte_fallback = false;  // bytes of an unknown character become tokens
  bool whole_words = false;    // a word that is a token is not merged, but taken
  std::string prefix, suffix;  // of tokens that continue a word, and that end one
};

class BpeModel : public Model {
 public:
  // The later of two merges of the same pair counts.
  BpeModel(Vocabulary vocabulary, const std::vector<Merge>& merges, BpeOptions options);

  void tokenize(std::string_view word, std::vector<TokenId>& ids) const override;
  void each_part(std::string_view word, const TakePart& take) const override;

 private:
  struct Merged {
    std::uint32_t rank = 0;
    TokenId id = no_token;
  };
  class Word;

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) {
    return std::uint64_t{left} << 32 | right;
  }
  void find_joints(const std::vector<Merge>& merges);
  void append_symbols(std::string_view word, std::vector<TokenId>& symbols) const;

  BpeOptions options_;
  FlatMap<std::uint64_t, Merged> merges_;
  bool can_cut_ = false;
  FlatSet<std::uint64_t> joints_;  // pairs of characters inside of merged tokens
};

// The merges that SentencePiece makes, which says no pairs: any two tokens that are a token
// together, those of the highest score first.  `scores` are those of tokens 0, 1, ..; `takes_part`
// says which of them may be merged or be the result.
std::vector<Merge> merges_by_score(const Vocabulary& vocabulary, const std::vector<double>& scores,
                                   const std::vector<bool>& takes_part);

}  // namespace croze::llm
