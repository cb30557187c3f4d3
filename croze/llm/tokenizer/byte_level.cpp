#include "croze/llm/tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

struct ByteChars {
  std::array<char32_t, 256> of_byte{};
  std::array<int, 512> of_char{};  // -1 for characters that stand for no byte
};

// What can be seen of Latin-1 stands for itself, the other bytes for U+0100 and so on.
constexpr ByteChars make_byte_chars() {
  ByteChars table;
  for (int& byte : table.of_char) byte = -1;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; byte++) {
    const bool is_seen =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
    const char32_t c = is_seen ? static_cast<char32_t>(byte) : next++;
    table.of_byte[static_cast<std::size_t>(byte)] = c;
    table.of_char[c] = byte;
  }
  return table;
}
constexpr ByteChars byte_chars = make_byte_chars();

}  // namespace

void append_bytes_as_chars(std::string_view bytes, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + 2 * bytes.size());  // all of these characters are below U+0800
  char* to = text.data() + before;
  for (const char byte : bytes) {
    const char32_t c = byte_chars.of_byte[static_cast<std::uint8_t>(byte)];
    if (c >= 0x80) *to++ = static_cast<char>(0xC0 | c >> 6);
    *to++ = static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3F));
  }
  text.resize(static_cast<std::size_t>(to - text.data()));
}

void append_chars_as_bytes(std::string_view token, std::string& bytes) {
  const std::size_t before = bytes.size();
  for (std::size_t at = 0; at < token.size();) {
    const char32_t c = next_char(token, at);
    const int byte = c < byte_chars.of_char.size() ? byte_chars.of_char[c] : -1;
    if (byte < 0) {
      bytes.resize(before);
      bytes += token;
      return;
    }
    bytes += static_cast<char>(byte);
  }
}

const char* const gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace croze::llm
