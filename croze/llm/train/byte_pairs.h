// byte_pairs.h -- a vocabulary that is learned from a text.
//
// It begins with the 256 bytes.  Then the two neighbours that are together most often, within the
// words of the text, become one token, and so on until there are as many as asked for (Sennrich et
// al., 2016).  Frequent words end as one token, rare ones as several, and whatever is written has
// tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/gguf/value.h"

namespace croze::llm {

struct BytePairs {
  std::vector<std::string> tokens;  // as byte_level.h writes them; the last one ends a text
  std::vector<std::string> merges;  // "left right", in the order in which they were made

  static constexpr std::int64_t fewest = 257;  // the bytes and the end of the text

  // What a GGUF file says of a tokenizer of these, one of GPT-2's kind.
  GgufMetadata::Map metadata() const;
};

// Learns from the first 8 MiB.  Of pairs that are equally frequent the one of the older tokens
// comes first, so the result depends on the text alone.  Fewer than `size` tokens if no pair occurs
// twice any more.  Throws Error unless `fewest` <= size <= 65536.
BytePairs learn_byte_pairs(std::string_view text, std::int64_t size);

}  // namespace croze::llm
