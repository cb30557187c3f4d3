// byte_level.h -- bytes as characters that can be seen, which is how the tokens of byte-level
// vocabularies are written: 'A' for the byte 41, U+0120 for a space.
#pragma once

#include <string>
#include <string_view>

namespace croze::llm {

// Appends a character for each byte.
void append_bytes_as_chars(std::string_view bytes, std::string& text);

// Appends the bytes that the characters of a token stand for; if one of them stands for none, the
// token as it is.
void append_chars_as_bytes(std::string_view token, std::string& bytes);

// How GPT-2 cuts a text into words.
extern const char* const gpt2_pattern;

}  // namespace croze::llm
