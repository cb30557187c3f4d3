// narrow_sums.h -- sums of integers in no more bits than are used of them.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// A sum of 64 bits of which every user takes 32 at most is one of 32 bits: integers wrap, so the
// low bits of a sum or a product follow from those of its operands.  Products of integers are
// recorded with wide sums, which halve the lanes of a vector and are no sums of a matrix unit.
UOp narrow_sums(UOp sink);

}  // namespace croze
