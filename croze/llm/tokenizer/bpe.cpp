// bpe.cpp -- merging with a heap, n log n in the length of the word.
//
// Vocabularies of SentencePiece see a text as one word, since spaces are characters like others.
// Such a word can be cut before it is merged, wherever no merge can reach across: between two
// characters that stand side by side in no merged token.  For texts that is nearly every space.
#include "croze/llm/tokenizer/bpe.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {

BpeModel::BpeModel(Vocabulary vocabulary, const std::vector<Merge>& merges, BpeOptions options)
    : Model(std::move(vocabulary), options.unknown, options.byte_fallback),
      options_(std::move(options)) {
  merges_.reserve(std::ssize(merges));
  for (const Merge& m : merges) {
    merges_[key(static_cast<std::uint32_t>(m.left), static_cast<std::uint32_t>(m.right))] = {
        m.rank, m.merged};
  }
  find_joints(merges);
}

// No cuts where the word as a whole counts, or where a merge takes the byte token of a character
// that the text of the merged token does not show.
void BpeModel::find_joints(const std::vector<Merge>& merges) {
  can_cut_ = !options_.whole_words && options_.prefix.empty() && options_.suffix.empty();
  for (const Merge& m : merges) {
    if (!can_cut_) return;
    const std::optional<std::string_view> text = vocabulary().text_of(m.merged);
    ensure(text.has_value(), "a merge without a token");
    const std::optional<std::string_view> left = vocabulary().text_of(m.left);
    const std::optional<std::string_view> right = vocabulary().text_of(m.right);
    if (has_byte_tokens() &&
        ((left && byte_of_token(*left) >= 0) || (right && byte_of_token(*right) >= 0))) {
      can_cut_ = false;
    }
    std::size_t at = 0;
    char32_t before = 0;
    for (bool is_first = true; at < text->size(); is_first = false) {
      const char32_t c = next_char(*text, at);
      if (!is_first) joints_.insert(key(before, c));
      before = c;
    }
  }
}

void BpeModel::each_part(std::string_view word, const TakePart& take) const {
  if (!can_cut_) return take(word);
  std::size_t begin = 0, at = 0;
  while (at < word.size()) {
    const std::size_t from = at;
    const char32_t c = next_char(word, at);
    if (at == word.size()) break;
    std::size_t behind = at;
    const char32_t next = next_char(word, behind);
    // Unknown neighbours may become one token.
    if (joints_.contains(key(c, next)) ||
        vocabulary().find(word.substr(from, at - from)) == no_token) {
      continue;
    }
    take(word.substr(begin, at - begin));
    begin = at;
  }
  take(word.substr(begin));
}

// The tokens of characters, before merging.
void BpeModel::append_symbols(std::string_view word, std::vector<TokenId>& symbols) const {
  bool is_unknown = false;  // the characters before, whose token is not yet there
  const auto end_unknown = [&] {
    if (is_unknown) symbols.push_back(unknown());
    is_unknown = false;
  };
  for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    next_char(word, end);
    const std::string_view c = word.substr(begin, end - begin);
    TokenId id = no_token;
    if (options_.prefix.empty() && options_.suffix.empty()) {
      id = vocabulary().find(c);
    } else {
      std::string affixed = begin == 0 ? "" : options_.prefix;
      affixed += c;
      if (end == word.size()) affixed += options_.suffix;
      id = vocabulary().find(affixed);
    }
    if (id != no_token) {
      end_unknown();
      symbols.push_back(id);
    } else if (!append_bytes(c, symbols) && unknown() != no_token) {
      if (!options_.fuse_unknown) end_unknown();
      is_unknown = true;
    }
  }
  end_unknown();
}

// Symbols in a list with links, and the merges that could be made.
class BpeModel::Word {
 public:
  Word(const BpeModel& model, const std::vector<TokenId>& symbols) : model_(model) {
    nodes_.reserve(symbols.size());
    for (std::size_t i = 0; i < symbols.size(); i++) {
      nodes_.push_back({symbols[i], no_token, static_cast<std::int32_t>(i) - 1,
                        i + 1 < symbols.size() ? static_cast<std::int32_t>(i) + 1 : -1});
    }
    std::vector<Candidate> first;
    first.reserve(symbols.size());
    for (std::int32_t i = 0; i < std::ssize(nodes_); i++) {
      if (const Merged* merged = look_at(i)) first.push_back({merged->rank, i, merged->id});
    }
    heap_ = Heap({}, std::move(first));
  }

  void merge(std::vector<TokenId>& ids) {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      Node& left = nodes_[best.at];
      if (left.with_next != best.id) continue;  // gone since, or another pair
      Node& right = nodes_[left.next];
      left.id = best.id;
      left.next = right.next;
      right.id = right.with_next = no_token;
      if (left.next >= 0) nodes_[left.next].before = best.at;
      consider(best.at);
      if (left.before >= 0) consider(left.before);
    }
    for (const Node& node : nodes_) {
      if (node.id != no_token) ids.push_back(node.id);
    }
  }

 private:
  struct Node {
    TokenId id;
    TokenId with_next;  // what it and the next one become
    std::int32_t before, next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::int32_t at;
    TokenId id;
    bool operator<(const Candidate& other) const {  // the top of the heap is the largest
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  using Heap = std::priority_queue<Candidate>;

  // What the symbol there and the next one become, if anything, which it then knows.
  const Merged* look_at(std::int32_t at) {
    Node& left = nodes_[at];
    left.with_next = no_token;
    if (left.next < 0) return nullptr;
    const Merged* merged = model_.merges_.find(
        key(static_cast<std::uint32_t>(left.id), static_cast<std::uint32_t>(nodes_[left.next].id)));
    if (merged) left.with_next = merged->id;
    return merged;
  }

  void consider(std::int32_t at) {
    if (const Merged* merged = look_at(at)) heap_.push({merged->rank, at, merged->id});
  }

  const BpeModel& model_;
  std::vector<Node> nodes_;
  Heap heap_;
};

void BpeModel::tokenize(std::string_view word, std::vector<TokenId>& ids) const {
  if (options_.whole_words) {
    if (const TokenId id = vocabulary().find(word); id != no_token) return ids.push_back(id);
  }
  check(word.size() < std::numeric_limits<std::int32_t>::max(), "a word of {} bytes is too long",
        word.size());
  std::vector<TokenId> symbols;
  append_symbols(word, symbols);
  Word(*this, symbols).merge(ids);
}

std::vector<Merge> merges_by_score(const Vocabulary& vocabulary, const std::vector<double>& scores,
                                   const std::vector<bool>& takes_part) {
  // Each split of each token is looked up, which costs its length.
  constexpr std::size_t max_token_bytes = 1024;
  const auto part = [&](std::string_view text) {
    const TokenId id = vocabulary.find(text);
    return id != no_token && takes_part[static_cast<std::size_t>(id)] ? id : no_token;
  };
  std::vector<TokenId> order;
  for (std::size_t i = 0; i < scores.size(); i++) {
    if (takes_part[i]) order.push_back(static_cast<TokenId>(i));
  }
  const auto score = [&](TokenId id) { return scores[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(order, std::greater<>(), score);
  std::vector<Merge> merges;
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); i++) {
    // Equal scores have one rank, so that the leftmost pair comes first.
    if (i > 0 && score(order[i]) != score(order[i - 1])) rank = static_cast<std::uint32_t>(i);
    const std::string_view text = *vocabulary.text_of(order[i]);
    check(text.size() <= max_token_bytes, "token {} has {} bytes, more than {}", order[i],
          text.size(), max_token_bytes);
    if (vocabulary.find(text) != order[i]) continue;  // another token has the same text
    for (std::size_t at = 0; at < text.size();) {
      next_char(text, at);
      if (at == text.size()) break;
      const TokenId left = part(text.substr(0, at));
      const TokenId right = left == no_token ? no_token : part(text.substr(at));
      if (right != no_token) merges.push_back({left, right, order[i], rank});
    }
  }
  return merges;
}

}  // namespace croze::llm
