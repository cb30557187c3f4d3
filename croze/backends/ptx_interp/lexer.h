// lexer.h -- the words of PTX, with the lines they stand in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace croze::ptx_interp {

struct Token {
  // A name with its dots ("ld.global.f32", ".reg", "%r7", "$L0"), a number as it is spelt, or one
  // character; empty at the end.
  std::string_view text;
  std::int32_t line = 1;
};

// The last token is empty.  Throws Error for a character that no token begins with.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace croze::ptx_interp
