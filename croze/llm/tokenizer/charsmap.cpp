#include "croze/llm/tokenizer/charsmap.h"

#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

// Hugging Face's reading of the table; SentencePiece itself replaces the longest text that matches.
constexpr std::size_t max_grapheme_bytes = 5;

// The fields of a unit.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

Charsmap::Charsmap(std::string_view bytes) {
  ByteReader reader(std::as_bytes(std::span(bytes)), "the table of characters");
  const auto trie_bytes = reader.read<std::uint32_t>();
  check(trie_bytes % 4 == 0 && trie_bytes > 0 && trie_bytes <= reader.remaining(),
        "the table of characters says that its trie has {} bytes", trie_bytes);
  for (std::uint32_t i = 0; i < trie_bytes / 4; i++) {
    units_.push_back(reader.read<std::uint32_t>());
  }
  texts_ = reader.text(reader.remaining());
  check(is_valid_utf8(texts_), "the table of characters holds bytes that are not UTF-8");
}

// What stands for the shortest text of the table that `text` begins with replaces all of it.
bool Charsmap::append_replaced(std::string_view text, std::string& result) const {
  std::uint32_t at = offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == 0) return false;
    at ^= byte;
    if (at >= units_.size() || label(units_[at]) != byte) return false;
    const std::uint32_t unit = units_[at];
    at ^= offset(unit);
    if (!has_leaf(unit)) continue;
    if (at >= units_.size()) return false;
    const std::uint32_t begin = value(units_[at]);
    if (begin > texts_.size()) return false;
    const std::size_t end = texts_.find('\0', begin);
    const std::string replacement = texts_.substr(begin, end - begin);
    if (!is_valid_utf8(replacement)) return false;  // begins inside of a character
    result += replacement;
    return true;
  }
  return false;
}

std::string Charsmap::normalized(std::string_view text, std::size_t max_bytes) const {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view grapheme = text.substr(at, grapheme_length(text.substr(at)));
    at += grapheme.size();
    const bool is_done = grapheme.size() <= max_grapheme_bytes && append_replaced(grapheme, result);
    for (std::size_t begin = 0, end = 0; !is_done && begin < grapheme.size(); begin = end) {
      next_char(grapheme, end);
      const std::string_view c = grapheme.substr(begin, end - begin);
      if (!append_replaced(c, result)) result += c;
    }
    check(result.size() <= max_bytes, "replacing makes a text of more than {} bytes", max_bytes);
  }
  return result;
}

std::string decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    check(digit >= 0, "a table of characters is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

}  // namespace croze::llm
