// normalize.h -- a kernel's loops put in the form the choosers expect.
#pragma once

#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Loops are split where an index divides by a divisor of their size; neighbouring loops that every
// access walks as one become one; independent reductions over equal sizes share their loops; serial
// loops stand innermost, the loops that hoisted reductions vary over outermost.
void normalize_loops(KernelState& k);

// Makes one loop of two that every access walks as one as far as it is there: the lines and columns
// of a picture under a window, whose gates then divide.
void merge_gated_loops(KernelState& k);

// Whether every one of these index expressions sees `outer` and `inner` as outer * size + inner.
bool walked_as_one(const std::vector<UOp>& uses, UOp outer, UOp inner);

}  // namespace croze
