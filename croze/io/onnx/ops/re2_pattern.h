// re2_pattern.h -- patterns in the syntax of RE2, which is what ONNX has.
#pragma once

#include <string>
#include <string_view>

#include "croze/io/text_pattern.h"

namespace croze::onnx {

// The pattern in the words of TextPattern.  Throws Error, saying what, for all that RE2 does not
// have: back references, what looks ahead or behind, possessive repetitions; and for \C, a byte of
// a character.
std::string re2_translated(std::string_view pattern);

// A pattern that matches what RE2 does.  A match may take longer: it is given up then.
inline TextPattern re2_pattern(std::string_view pattern) {
  const bool is_too_long = pattern.size() > TextPattern::max_bytes;
  return {is_too_long ? std::string() : re2_translated(pattern), std::string(pattern), {}};
}

}  // namespace croze::onnx
