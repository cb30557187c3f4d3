// first_sums.h -- what is added to the sums of a matrix unit.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// Integers that are added to products which a unit of one row adds up, one after the other to
// nothing, are what it begins to add to, where that moves them into no loop and nobody else wants
// the sum without them.
UOp begin_with_added(UOp sink);

}  // namespace croze
