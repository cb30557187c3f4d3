// joined_bytes.h -- words that are put together of bytes in memory are loaded as words.
#pragma once

#include <cstdint>

#include "croze/graph/uop.h"

namespace croze {

// The Load of the low byte where `u` is the word of two bytes that follow each other in a buffer,
// both read behind no gate; else null.
UOp low_byte_of_word(UOp u);

// How far the second place of bytes lies behind the first one, where the indices differ by a
// constant; 0 if that is not known.
std::int64_t bytes_between(UOp first, UOp second);

}  // namespace croze
