// writer.h -- writes a linear program as a kernel in a C-like language.
#pragma once

#include <string>
#include <vector>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The source text of the kernel, complete.  Throws InternalError naming the op or the dtype if the
// program holds something that the language lacks.
std::string write_program(const Dialect& dialect, const LinearProgram& program);

// The same in parts, for a text that holds several kernels: the functions of helpers, which kernels
// may have in common, stand before them once each.
struct KernelText {
  std::vector<Helper> helpers;
  std::string function;
};
KernelText write_kernel(const Dialect& dialect, const LinearProgram& program);

// A kernel by itself, behind what the dialect and its helpers put before it.
std::string text_of(const Dialect& dialect, const KernelText& kernel);

}  // namespace croze::c_family
