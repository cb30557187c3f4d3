// lexer.h -- the text of a template as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/template/source.h"

namespace croze::llm::jinja {

enum class TokenKind {
  Text,         // what stands outside of tags
  OutputBegin,  // {{
  OutputEnd,    // }}
  TagBegin,     // {%
  TagEnd,       // %}
  Name,
  String,
  Integer,
  Float,
  Operator,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  // A text and a string as they are meant, without escapes; all else as it is written.
  std::string text;
  Place place;
};

// The tokens of a template, with white space and new lines around tags removed as Hugging Face sets
// it (trim_blocks and lstrip_blocks), without comments; the last one is the End.  Throws Error with
// line and column for what is no token.
std::vector<Token> tokens_of(const Source& source);

}  // namespace croze::llm::jinja
