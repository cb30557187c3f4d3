// charsmap.h -- the table of SentencePiece that says what characters become: a trie of texts as one
// array of units ("double array"), and what they become, each ended by a zero byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croze::llm {

class Charsmap {
 public:
  // Throws Error for bytes that are no such table.
  explicit Charsmap(std::string_view bytes);

  // Replaces each grapheme of up to 5 bytes, and of what is not replaced each character.
  // Throws Error if that makes more than `max_bytes`.
  std::string normalized(std::string_view text, std::size_t max_bytes) const;

 private:
  bool append_replaced(std::string_view text, std::string& result) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

// The bytes of a base64 text.  Throws Error if it is none.
std::string decode_base64(std::string_view text);

}  // namespace croze::llm
