// joined_bytes.h -- words that are put together of bytes in memory are loaded as words.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// The Load of the low byte where `u` is the word of two bytes that follow each other in a buffer,
// both read behind no gate; else null.
UOp low_byte_of_word(UOp u);

}  // namespace croze
