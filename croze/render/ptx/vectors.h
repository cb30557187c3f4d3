// vectors.h -- what the lanes of a vector come to together, in registers: one for each of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/graph/op.h"
#include "croze/render/ptx/text.h"

namespace croze::ptx {

// All lanes combined, as a tree: the upper half with the lower half, until one is left.  `operand`:
// the dtype of the lanes.
std::string reduced(Text& text, Op op, DType t, DType operand, std::vector<std::string> lanes);

// Op::Lookup: for each index the lane of the table that it says, modulo their number.
std::vector<std::string> looked_up(Text& text, DType t, std::span<const std::string> table,
                                   DType of_index, std::span<const std::string> indices);

}  // namespace croze::ptx
