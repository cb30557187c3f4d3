// characters.h -- texts as Python sees them: sequences of code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croze::llm::jinja {

// What str.isspace() holds for; is_whitespace of the tokenizers lacks four separators.
bool is_space(char32_t c);
// What repr() writes as it is.
bool is_printable(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_letter(char32_t c);
bool is_digit(char32_t c);

// One character for one, by Unicode's simple mappings: "\u00df" stays what it is, where Python
// makes "SS" of it.
void append_upper(std::string& text, char32_t c);
void append_lower(std::string& text, char32_t c);
std::string uppered(std::string_view text);
std::string lowered(std::string_view text);
// The first character upper, the others lower.
std::string capitalized(std::string_view text);

std::int64_t count_chars(std::string_view text);
// The byte at which the character of that number begins; the size of the text for the one behind
// the last, and beyond.
std::size_t byte_of_char(std::string_view text, std::int64_t number);

enum class Side { Left, Right, Both };
// Without the characters at the ends that `chars` has, or white space if it is null.
std::string_view stripped(std::string_view text, Side side, const std::string* chars = nullptr);

// Where `needle` begins in `text`, not before `from`; npos if nowhere.  Takes time that is linear
// in the texts.
std::size_t find_text(std::string_view text, std::string_view needle, std::size_t from = 0);

}  // namespace croze::llm::jinja
