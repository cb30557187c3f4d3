// expressions.h -- the text of an elementwise op in WGSL, over operands that are texts.
//
// Integers of 8 and 16 bits are values of i32 or u32 that the narrow type holds; an op whose result
// may leave the narrow type wraps it.  Operands are names or literals, so no text needs parentheses
// around its operands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "croze/render/program.h"

namespace croze::wgsl {

// "f32"; throws InternalError for a dtype that the language lacks.
std::string_view type(DType t);
bool has_type(DType t);

// A constant; a float other than zero is a call of a helper.
std::string literal(std::int64_t bits, DType t);

// The ops of the table.
OpSet table_ops();

// The value of u.  Throws InternalError naming an op that the language lacks.
std::string elementwise(UOp u, const std::string (&operands)[3]);

// The bits of a value of dtype t as u32, the upper ones of a narrow type being anything, and back
// from bits whose upper ones are zero.
std::string to_word(const std::string& x, DType t);
std::string from_word(const std::string& word, DType t);

// The functions that these texts call.
std::string_view helpers();

}  // namespace croze::wgsl
