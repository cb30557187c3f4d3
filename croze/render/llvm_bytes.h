// llvm_bytes.h -- vectors of bytes that are shifted as words: processors shift words and no bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/render/llvm_text.h"

namespace croze {

// By how much each lane of a right shift of UInt8 is shifted, where the number of the lane says it
// and says the same to the four bytes of each word; else nothing.
std::vector<std::int64_t> shifts_of_words(UOp u);

// Bytes without a sign, each shifted right by less than 8, four of a word by the same.
LlvmValue llvm_shift_bytes(LlvmText& text, const LlvmValue& bytes,
                           std::span<const std::int64_t> amounts);

}  // namespace croze
