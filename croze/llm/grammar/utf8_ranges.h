// utf8_ranges.h -- ranges of characters as sequences of ranges of bytes, as UTF-8 writes them.
#pragma once

#include <array>
#include <vector>

namespace croze::llm {

// One to four ranges of bytes, a character each of whose bytes lies in its range.
struct ByteSequence {
  struct Range {
    unsigned char first = 0, last = 0;
  };
  std::array<Range, 4> bytes = {};
  int length = 0;
};

// The sequences that together are the characters from `first` to `last`; surrogates are left out.
std::vector<ByteSequence> utf8_sequences(char32_t first, char32_t last);

}  // namespace croze::llm
