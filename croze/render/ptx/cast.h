// cast.h -- Cast and Bitcast in PTX.
#pragma once

#include <string>

#include "croze/render/ptx/text.h"

namespace croze::ptx {

// The value of `x` in another dtype, as eval.h says: integers wrap, floats are rounded to nearest
// even, floats become integers toward zero and saturate, NaN becomes 0.
std::string cast(Text& text, const std::string& x, DType from, DType to);

// The same bits in another dtype of the same size.
std::string bitcast(Text& text, const std::string& x, DType from, DType to);

// What an operation in 16 bits left, as an integer of 8 bits that the register holds extended; of
// other dtypes it is that already.
std::string wrapped(Text& text, DType t, const std::string& x);

}  // namespace croze::ptx
