// valid.h -- simplification of an expression under a condition known to hold.
#pragma once

#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The terms of an And, each once; a condition that is none is its own only term.
std::vector<UOp> conjuncts(UOp gate);

// An expression equal to `x` wherever `gate` is true, simplified by what the gate says: an And of
// comparisons of index sums with constants tightens the bounds of those sums inside x, so that
// quotients and remainders fall away.  `x` is an Index or Bool expression; others come back as they
// are.
[[nodiscard]] UOp simplify_under(UOp gate, UOp x);

// The values that the Index expression `x` can take where `gate` is true, by the sums that the gate
// bounds.  The gate may be null: always.
Bounds bounds_under(UOp gate, UOp x);

// `gate` with the terms of its And simplified under each other: what the others imply goes away.
[[nodiscard]] UOp simplify_gate(UOp gate);

}  // namespace croze
