// llvm_avx512.h -- what AVX-512 has instructions for and LLVM's own forms of it do not become.
#pragma once

#include "croze/render/llvm_text.h"

namespace croze {

// Op::Max or Op::Min of floats: NaN if either is, and of two zeros the positive one is greater.
// Where there is no AVX-512 it is what LLVM makes of it.
LlvmValue llvm_float_extremum(LlvmText& text, Op op, const LlvmValue& a, const LlvmValue& b);

// Op::Scale, of AVX-512 alone.
LlvmValue llvm_scaled(LlvmText& text, const LlvmValue& x, const LlvmValue& n);

}  // namespace croze
