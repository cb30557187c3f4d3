// cuda_like.h -- what CUDA C and HIP C have in common, which is nearly all.
#pragma once

#include <string>
#include <string_view>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The words of both, but for the name, the head of a kernel and what stands before all functions.
Dialect cuda_like();

// The head: `bounds` is what the language says of the launch, behind __global__ void; `more`:
// parameters behind those that both have, each with a comma before it.
std::string cuda_like_signature(const Dialect& dialect, const LinearProgram& program,
                                std::string_view bounds, std::string_view more = {});

// Items of a group.
std::int64_t items_of(const LinearProgram& program);

// "// group memory: BYTES", which a launch must give; `more` than that of its Locals.
std::string group_memory_line(const LinearProgram& program, std::int64_t more = 0);

}  // namespace croze::c_family
