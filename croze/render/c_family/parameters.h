// parameters.h -- heads of kernels that have a parameter of its own type for each buffer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// The parameters of the program that stand for a buffer: one for each type that it is seen under.
std::vector<UOp> params_of(const LinearProgram& program, int slot);

// "const float* restrict b1"; a buffer that the kernel sees under several types, or does not touch,
// is a void*.  `restricted` is the language's word.
std::string buffer_parameter(const Dialect& dialect, const LinearProgram& program, int slot,
                             std::string_view restricted);

// Whether the program reads the variable.
bool has_variable(const LinearProgram& program, int number);

// Dialect::declare_param and declare_variable after such a head, in which variables are a0, a1, ..
std::string declare_typed_param(const Dialect& dialect, UOp param, std::string_view name,
                                bool is_written, bool is_alone);
std::string declare_number(const Dialect& dialect, UOp variable, std::string_view name);

}  // namespace croze::c_family
