// llvm_float_cast.h -- integers of floats.
#pragma once

#include "croze/render/llvm_text.h"

namespace croze {

// Op::Cast of Float32 or Float64 to integers: what lies behind the point is cut off, what is too
// large or too small becomes the greatest or the least integer of the type, and NaN 0.
LlvmValue llvm_float_cast(LlvmText& text, LlvmType result, const LlvmValue& x);

}  // namespace croze
