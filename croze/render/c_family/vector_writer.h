// vector_writer.h -- kernels in a C-like language that has vectors.
#pragma once

#include <limits>

#include "croze/render/c_family/vector_words.h"
#include "croze/render/c_family/writer.h"

namespace croze::c_family {

// Whether the kernel has vectors, and all of them are of types that these languages have: powers of
// two.
bool can_write_vectors(const LinearProgram& program,
                       std::int64_t most_lanes = std::numeric_limits<std::int64_t>::max());

// The same function as write_kernel() writes, over vectors in the place of loops over lanes;
// helpers are its types and macros beside functions.
KernelText write_vector_kernel(const Dialect& dialect, const VectorWords& vectors,
                               const LinearProgram& program);

}  // namespace croze::c_family
