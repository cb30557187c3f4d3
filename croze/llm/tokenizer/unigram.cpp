// unigram.cpp -- the best path through the pieces of a word (Viterbi), from left to right.
#include "croze/llm/tokenizer/unigram.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

constexpr double unknown_penalty = 10;  // of SentencePiece: below the lowest score by that

// The best way to a place in the word.
struct Way {
  double score = 0;
  std::size_t from = none;  // where its last piece begins
  TokenId id = no_token;    // of that piece; no_token if it is unknown

  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  void offer(double other_score, std::size_t other_from, TokenId other_id) {
    if (from == none || other_score > score) *this = {other_score, other_from, other_id};
  }
};

}  // namespace

UnigramModel::UnigramModel(Vocabulary vocabulary, std::vector<double> scores,
                           const std::vector<bool>& takes_part, const UnigramOptions& options)
    : Model(std::move(vocabulary), options.unknown, options.byte_fallback),
      scores_(std::move(scores)) {
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < scores_.size(); i++) {
    check(scores_[i] == scores_[i], "the score of token {} is no number", i);
    if (!takes_part[i]) continue;
    lowest = std::min(lowest, scores_[i]);
    const auto id = static_cast<TokenId>(i);
    // Of two pieces with the same text the later one counts.
    const std::optional<std::string_view> text = this->vocabulary().text_of(id);
    ensure(text.has_value(), "token {} has no text", i);
    pieces_.add(*text, this->vocabulary().find(*text));
  }
  unknown_score_ = (pieces_.empty() ? 0 : lowest) - unknown_penalty;
}

void UnigramModel::tokenize(std::string_view word, std::vector<TokenId>& ids) const {
  std::vector<Way> ways(word.size() + 1);
  for (std::size_t at = 0, next = 0; at < word.size(); at = next) {
    next_char(word, next);
    bool has_character = false;
    const double score = ways[at].score;
    pieces_.prefixes(word.substr(at), [&](std::size_t bytes, TokenId id) {
      ways[at + bytes].offer(score + scores_[static_cast<std::size_t>(id)], at, id);
      has_character |= at + bytes == next;
    });
    if (!has_character) ways[next].offer(score + unknown_score_, at, no_token);
  }

  struct Piece {
    std::size_t begin, end;
    TokenId id;
  };
  std::vector<Piece> pieces;  // from the last to the first
  for (std::size_t end = word.size(); end > 0; end = ways[end].from) {
    const Way& way = ways[end];
    const bool fuses = way.id == no_token && !pieces.empty() && pieces.back().id == no_token;
    if (fuses) {
      pieces.back().begin = way.from;
    } else {
      pieces.push_back({way.from, end, way.id});
    }
  }
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->id != no_token) {
      ids.push_back(piece->id);
    } else if (!append_bytes(word.substr(piece->begin, piece->end - piece->begin), ids)) {
      check(unknown() != no_token, "the vocabulary has no token for what is unknown");
      ids.push_back(unknown());
    }
  }
}

}  // namespace croze::llm
