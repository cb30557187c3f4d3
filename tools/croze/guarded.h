// guarded.h -- how a program ends.
#pragma once

#include "croze/base/function_ref.h"

namespace croze::tool {

// What `run` returns, or 1 with a line on standard error that begins with the program's name: for
// an exception, and for results that standard output did not take.
int guarded(const char* program, function_ref<int()> run);

}  // namespace croze::tool
