// squares.h -- vectors of elements that lie apart, where their neighbours are wanted, too.
#pragma once

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Of an expanded kernel: loads, and stores that the sink alone knows of, of as many vectors as
// these have lanes, each of which takes the next element in each of as many rows, become loads and
// stores of these rows, which are turned in registers.
UOp turn_squares(UOp sink, const Caps& caps);

}  // namespace croze
