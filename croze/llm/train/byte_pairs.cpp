// byte_pairs.cpp -- counts pairs of neighbours and merges the most frequent one, again and again.
//
// A text has few different words, so pairs are counted in a list of these, each with its number of
// occurrences.  A merge changes the words that have the pair and no other, and the counts of the
// pairs in them.
#include "croze/llm/train/byte_pairs.h"

#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/llm/tokenizer/byte_level.h"
#include "croze/llm/tokenizer/pre_tokenizer.h"
#include "croze/llm/train/slices.h"

namespace croze::llm {
namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 20;
// Longer ones are counted in parts: merging walks over whole words.
constexpr std::size_t longest_word = 64;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

struct PairHash {
  std::size_t operator()(const Pair& p) const {
    return hash_word(std::uint64_t{p.first} << 32 | p.second);
  }
};

struct Word {
  std::vector<std::uint32_t> tokens;
  std::int64_t count = 0;  // occurrences in the text
};

// The different words of a text with their numbers, in the order in which they come.
std::vector<Word> words_of(std::string_view text) {
  std::vector<PreTokenizerStep> steps;
  steps.emplace_back(SplitPattern{Regex(gpt2_pattern)});
  const PreTokenizer splits(std::move(steps));
  std::vector<Word> words;
  std::unordered_map<std::string, std::size_t> numbers;
  const auto count = [&](std::string_view word) {
    const auto [it, is_new] = numbers.try_emplace(std::string(word), words.size());
    if (is_new) {
      words.emplace_back();
      for (const char byte : word) words.back().tokens.push_back(static_cast<std::uint8_t>(byte));
    }
    words[it->second].count++;
  };
  for_each_slice(text, [&](std::string_view slice) {
    Pieces pieces(to_valid_utf8(slice), true);
    splits.split(pieces);
    for (std::size_t i = 0; i < pieces.size(); i++) {
      for (std::size_t at = 0; at < pieces[i].size(); at += longest_word) {
        count(pieces[i].substr(at, longest_word));
      }
    }
  });
  return words;
}

class PairCounts {
 public:
  explicit PairCounts(std::vector<Word> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < words_.size(); i++) add(i, +1);
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  // The most frequent pair, and how often it is there; zero if there is none.
  std::pair<Pair, std::int64_t> most_frequent() {
    while (!queue_.empty()) {
      const auto [count, pair] = queue_.top();
      const std::int64_t now = counts_[pair];
      if (now == count && count > 0) return {pair, count};
      queue_.pop();  // it was merged in part since
      if (now > 0) queue_.push({now, pair});
    }
    return {{}, 0};
  }

  void merge(const Pair& pair, std::uint32_t merged) {
    const std::vector<std::size_t> places = std::move(words_with_[pair]);
    std::set<Pair> grown;
    for (const std::size_t number : places) {
      std::vector<std::uint32_t>& tokens = words_[number].tokens;
      add(number, -1);
      replace(tokens, pair, merged);
      add(number, +1);
      for (std::size_t i = 0; i + 1 < tokens.size(); i++) {
        if (tokens[i] == merged || tokens[i + 1] == merged)
          grown.insert({tokens[i], tokens[i + 1]});
      }
    }
    for (const Pair& p : grown) queue_.push({counts_[p], p});
  }

 private:
  struct Entry {
    std::int64_t count;
    Pair pair;
    bool operator<(const Entry& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  // Counts the pairs of a word, or takes them back.
  void add(std::size_t number, std::int64_t sign) {
    const Word& word = words_[number];
    for (std::size_t i = 0; i + 1 < word.tokens.size(); i++) {
      const Pair pair{word.tokens[i], word.tokens[i + 1]};
      counts_[pair] += sign * word.count;
      if (sign < 0) continue;
      std::vector<std::size_t>& places = words_with_[pair];
      if (places.empty() || places.back() != number) places.push_back(number);
    }
  }

  static void replace(std::vector<std::uint32_t>& tokens, const Pair& pair, std::uint32_t merged) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); i++) {
      const bool is_pair =
          i + 1 < tokens.size() && tokens[i] == pair.first && tokens[i + 1] == pair.second;
      tokens[kept++] = is_pair ? merged : tokens[i];
      if (is_pair) i++;
    }
    tokens.resize(kept);
  }

  std::vector<Word> words_;
  std::unordered_map<Pair, std::int64_t, PairHash> counts_;
  // Words that have, or had, the pair.
  std::unordered_map<Pair, std::vector<std::size_t>, PairHash> words_with_;
  std::priority_queue<Entry> queue_;  // with counts that may be too large
};

}  // namespace

BytePairs learn_byte_pairs(std::string_view text, std::int64_t size) {
  check(size >= BytePairs::fewest && size <= 65536, "a vocabulary of {} tokens: from {} to 65536",
        size, BytePairs::fewest);
  BytePairs result;
  std::unordered_map<std::string, std::uint32_t> numbers;
  const auto number_of = [&](const std::string& token) {
    const auto [it, is_new] = numbers.try_emplace(token, result.tokens.size());
    if (is_new) result.tokens.push_back(token);
    return it->second;
  };
  for (int byte = 0; byte < 256; byte++) {
    std::string token;
    append_bytes_as_chars(std::string(1, static_cast<char>(byte)), token);
    number_of(token);
  }
  std::vector<Word> words;
  if (size > BytePairs::fewest) words = words_of(text.substr(0, most_bytes));
  PairCounts counts(std::move(words));
  while (std::ssize(result.tokens) < size - 1) {
    const auto [pair, count] = counts.most_frequent();
    if (count < 2) break;
    const std::string left = result.tokens[pair.first], right = result.tokens[pair.second];
    result.merges.push_back(left + " " + right);
    counts.merge(pair, number_of(left + right));  // which other pairs may have made before
  }
  result.tokens.emplace_back("<|endoftext|>");
  return result;
}

GgufMetadata::Map BytePairs::metadata() const {
  constexpr std::int32_t normal = 1, control = 3;  // token types of GGUF
  std::vector<std::int32_t> types(tokens.size(), normal);
  types.back() = control;
  const auto end = static_cast<std::uint32_t>(tokens.size() - 1);
  return {{"tokenizer.ggml.model", std::string("gpt2")},
          {"tokenizer.ggml.pre", std::string("gpt-2")},
          {"tokenizer.ggml.tokens", GgufArray{tokens}},
          {"tokenizer.ggml.token_type", GgufArray{std::move(types)}},
          {"tokenizer.ggml.merges", GgufArray{merges}},
          {"tokenizer.ggml.bos_token_id", end},
          {"tokenizer.ggml.eos_token_id", end},
          {"tokenizer.ggml.add_bos_token", false}};
}

}  // namespace croze::llm
