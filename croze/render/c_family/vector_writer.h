// vector_writer.h -- kernels in C with the vector types of gcc and clang.
#pragma once

#include "croze/render/c_family/writer.h"

namespace croze::c_family {

// Whether the kernel has vectors, and all of them are of types that these compilers have: powers of
// two.
bool can_write_vectors(const LinearProgram& program);

// The same function as write_kernel() writes, over vectors in the place of loops over lanes;
// helpers are its types beside functions.  The text is for compilers where CROZE_VECTORS is 1.
KernelText write_vector_kernel(const Dialect& dialect, const LinearProgram& program);

}  // namespace croze::c_family
