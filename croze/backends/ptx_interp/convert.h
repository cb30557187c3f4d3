// convert.h -- cvt: a value of one type as one of another.
#pragma once

#include "croze/backends/ptx_interp/code.h"

namespace croze::ptx_interp {

// Whether there is a cvt with this rounding.
bool is_conversion(Type to, Type from, Rounding rounding);

// Does the step of a cvt.
void convert(Item& item, const Step& step);

}  // namespace croze::ptx_interp
