// unicode.h -- UTF-8, properties of characters and normalization.  The tables are utf8proc's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croze::llm {

inline constexpr char32_t replacement_character = 0xFFFD;

// What stands at the beginning of some bytes.
struct ScannedChar {
  enum class Kind { Whole, Invalid, Cut };
  Kind kind = Kind::Invalid;
  char32_t value = replacement_character;  // of a whole character
  // Bytes of the character; if invalid, of the longest beginning of one ("maximal subpart" in the
  // Unicode standard), which is replaced as one; if cut, all that is there.
  std::size_t length = 1;
};

// `bytes` is not empty.
ScannedChar scan_char(std::string_view bytes);

// The character that begins at `at` of valid UTF-8; moves `at` behind it.
inline char32_t next_char(std::string_view text, std::size_t& at) {
  if (const auto first = static_cast<std::uint8_t>(text[at]); first < 0x80) return at++, first;
  const ScannedChar found = scan_char(text.substr(at));
  at += found.length;
  return found.value;
}

void append_char(std::string& text, char32_t c);

bool is_valid_utf8(std::string_view bytes);
// The bytes with U+FFFD for each maximal subpart of what is no UTF-8, as Python's errors="replace"
// and Rust's from_utf8_lossy have it.
std::string to_valid_utf8(std::string_view bytes);

// Bytes that arrive in pieces, as text: a character is given out when it is whole.
class Utf8Assembler {
 public:
  // Appends to `text` what is known once these bytes are there.
  void push(std::string_view bytes, std::string& text);
  // Appends what is left, which is no whole character.
  void finish(std::string& text);

 private:
  std::string pending_;
};

// Properties of Unicode; whitespace is White_Space, the others are general categories.
bool is_whitespace(char32_t c);
bool is_punctuation(char32_t c);      // P, and all of ASCII that is neither letter, digit nor space
bool is_number(char32_t c);           // N
bool is_mark(char32_t c);             // M
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_other(char32_t c);            // C: control, format, private use
bool is_word(char32_t c);             // as \w: letters, marks, digits, connectors

// One character in lower case, which is two of U+0130.
void append_lowered(std::string& text, char32_t c);

enum class NormalForm { C, D, KC, KD };
std::string normalized(std::string_view text, NormalForm form);

// Bytes of the extended grapheme cluster at the beginning of `text`, which is not empty.
std::size_t grapheme_length(std::string_view text);

}  // namespace croze::llm
