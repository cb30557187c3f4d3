// cast.h -- Cast and Bitcast in SPIR-V.
#pragma once

#include "croze/render/spirv/module.h"

namespace croze::spirv {

// The value in another dtype, as eval.h says: integers wrap, floats become integers toward zero and
// saturate, NaN becomes 0.
Id cast(Module& module, Id x, DType from, DType to);

// The same bits in another dtype of the same size.
Id bitcast(Module& module, Id x, DType from, DType to);

// What 32 bits hold, brought into the narrow integer type; other values are there already.
Id wrapped(Module& module, Id x, DType t);

}  // namespace croze::spirv
