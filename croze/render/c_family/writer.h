// writer.h -- writes a linear program as a kernel in a C-like language.
#pragma once

#include <string>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The source text of the kernel, complete.  Throws InternalError naming the op or the dtype if the
// program holds something that the language lacks.
std::string write_program(const Dialect& dialect, const LinearProgram& program);

}  // namespace croze::c_family
