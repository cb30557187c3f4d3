// vector_instructions.h -- what processors do to whole vectors and C has no operator for.
#pragma once

#include <cstdint>
#include <string>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// Macros over the vector type of such a name, "float32x16", each with the instruction of the
// processor that is compiled for and, where that has none, a loop over the lanes.
//
//   fma_TYPE(result, a, b, c);                   for floats
//   load_TYPE(result, open, mask, base, at);     base[at] and those behind it, 0 where mask is
//   store_TYPE(value, open, mask, base, at);     open: a condition under which all lanes are
//
//   gather_TYPE(result, mask, base, at, step);   base[at + k * step] for lane k; of 4 bytes
//   scatter_TYPE(value, mask, base, at, step);
//   look_up_TYPE(result, mask, base, at);        base[at[k]] for lane k; of 4 bytes, and of places
//                                                that 31 bits hold
//   select_TYPE(mask, a, b)                      an expression: a where mask is set
//   sqrt_TYPE(a)                                 an expression
//   every_other_TYPE(from)                       an expression: from[2 * k] for lane k
//
// A mask is integers of the width of an element.
Helper fma_macro(const std::string& vector, DType t, std::int64_t lanes);
Helper sqrt_macro(const std::string& vector, DType t, std::int64_t lanes);
// `mask`: the type of the mask.
Helper load_macro(const std::string& vector, const std::string& mask, DType t, std::int64_t lanes);
Helper store_macro(const std::string& vector, const std::string& mask, DType t, std::int64_t lanes);
Helper gather_macro(const std::string& vector, const std::string& mask, DType t,
                    std::int64_t lanes);
Helper scatter_macro(const std::string& vector, const std::string& mask, DType t,
                     std::int64_t lanes);
Helper look_up_macro(const std::string& vector, const std::string& mask, DType t,
                     std::int64_t lanes);
Helper select_macro(const std::string& vector, const std::string& mask, DType t,
                    std::int64_t lanes);

Helper every_other_macro(const std::string& vector, std::int64_t lanes);

// What the macros need before them.
Helper instructions_header();

}  // namespace croze::c_family
