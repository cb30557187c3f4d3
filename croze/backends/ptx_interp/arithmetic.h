// arithmetic.h -- what instructions that work on registers alone do.
#pragma once

#include <string_view>

#include "croze/backends/ptx_interp/code.h"

namespace croze::ptx_interp {

// An instruction without its type, "add.rn".
struct Form {
  std::string_view name;
  // The types of the result and of the operands: 't' that of the instruction, 'w' an integer twice
  // as wide, 'u' .u32, 'p' .pred.
  std::string_view operands;
  // The function for the type; null if there is no such instruction.
  Handler (*make)(Type t);
};

// "cvt.rna.tf32.f32" and the "mov.b32" of two halves.
void to_tf32(Item& item, const Step& step);
void join_halves(Item& item, const Step& step);

// Null for a name that there is not.
const Form* find_form(std::string_view name);

}  // namespace croze::ptx_interp
