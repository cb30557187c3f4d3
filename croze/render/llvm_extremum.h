// llvm_extremum.h -- the greater and the lesser of two floats.
#pragma once

#include "croze/render/llvm_text.h"

namespace croze {

// Op::Max or Op::Min of floats: NaN if either is, and of two zeros the positive one is greater.
LlvmValue llvm_float_extremum(LlvmText& text, Op op, const LlvmValue& a, const LlvmValue& b);

}  // namespace croze
