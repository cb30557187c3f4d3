// elementwise.h -- the instructions of elementwise ops, on scalars.
#pragma once

#include <span>
#include <string>

#include "croze/graph/op.h"
#include "croze/render/ptx/text.h"

namespace croze::ptx {

// The op on operands that are registers or constants; `operand` is the dtype of the last of them.
// Returns the register of the result, which may be an operand.  Throws InternalError for an op that
// the renderer has not.
std::string elementwise(Text& text, Op op, DType result, DType operand,
                        std::span<const std::string> operands);

// The elementwise ops that there are instructions for, as bits.
OpSet table_ops();

// `x` plus a constant, which may wrap.
std::string plus(Text& text, DType t, const std::string& x, std::int64_t constant);

// What the item of the warp has whose number differs in the bit (Op::Shuffle).
std::string shuffled(Text& text, DType t, const std::string& x, std::int64_t bit);
// For which items of the warp the predicate holds.
std::string ballot(Text& text, const std::string& holds);

// A new register with the value.
std::string copied(Text& text, DType t, const std::string& value);
void copy(Text& text, DType t, std::string_view to, std::string_view from);

}  // namespace croze::ptx
