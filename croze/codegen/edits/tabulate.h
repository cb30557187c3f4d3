// tabulate.h -- what is computed for whole vectors of a reduction; tabulate() itself is in
// transform.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The largest expressions that are the same for all lanes, vary over each of the loops, and are
// computed from memory: the scales of a row's blocks.
std::vector<UOp> values_of_vectors(UOp sink, std::span<const UOp> loops);

// The expression with its loops, outermost first, counted by one number.
UOp at_count(UOp value, std::span<const UOp> loops, UOp count);

// Bytes of the tiles that tabulate() would make of them, a row for each copy of the code that they
// have; 2^48 if it is more.
std::int64_t tabulated_bytes(std::span<const UOp> values, std::span<const UOp> loops);

}  // namespace croze
