// chunks.h -- how many tokens of a prompt are read at once.
#pragma once

#include <cstdint>

namespace croze::llm {

// Rows of a step that reads a prompt.  Of a long one more go at once, for which weights are decoded
// but once; twice as many are no faster, and what is computed of them takes twice the memory.
inline constexpr std::int64_t chunk = 64, long_chunk = 128;

// Rows of the step that reads the first of so many tokens: the last chunk is filled up, and a few
// tokens are read one by one, which costs less than a chunk that is mostly empty.
constexpr std::int64_t rows_for(std::int64_t tokens) {
  constexpr std::int64_t few = 12;
  return tokens >= long_chunk ? long_chunk : tokens >= few ? chunk : 1;
}

}  // namespace croze::llm
