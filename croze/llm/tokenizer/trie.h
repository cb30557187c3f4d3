// trie.h -- texts with a number each, found by their beginnings.
#pragma once

#include <cstdint>
#include <string_view>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/llm/tokenizer/vocabulary.h"

namespace croze::llm {

class Trie {
 public:
  // A search looks at up to that many bytes from each position of a text: so much longer than the
  // text may be what searching it costs, whatever a file says.
  static constexpr std::size_t max_key_bytes = 2048;

  // Throws Error for a text that is too long.  An empty one is not found.
  void add(std::string_view text, TokenId id) {
    check(text.size() <= max_key_bytes, "a token of {} bytes is longer than {}", text.size(),
          max_key_bytes);
    std::uint32_t node = 0;
    for (const char c : text) {
      const auto [next, is_new] = children_.insert(key(node, c), nodes_);
      if (is_new) nodes_++;
      node = *next;
    }
    if (node != 0) ids_[node] = id;
  }

  // Calls found(bytes, id) for each text that `text` begins with, the shortest first.
  template <typename Found>
  void prefixes(std::string_view text, Found found) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); i++) {
      const std::uint32_t* next = children_.find(key(node, text[i]));
      if (!next) return;
      node = *next;
      if (const TokenId* id = ids_.find(node)) found(i + 1, *id);
    }
  }

  bool empty() const { return ids_.empty(); }

 private:
  static std::uint64_t key(std::uint32_t node, char c) {
    return std::uint64_t{node} << 8 | static_cast<std::uint8_t>(c);
  }

  FlatMap<std::uint64_t, std::uint32_t> children_;
  FlatMap<std::uint32_t, TokenId> ids_;
  std::uint32_t nodes_ = 1;
};

}  // namespace croze::llm
