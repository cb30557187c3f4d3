// empty_loops.h -- what must not be loaded where a loop does not turn.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// An open loop may turn no time at all, and then what is loaded for it may not be there: a row of a
// matrix without rows.  A load need not show that it is of a loop: of a matrix with one row at most
// the number of the row is always 0, and so the load would stand outside of the loop.  Such loads
// get the gate that the loops around them turn.
//
// The kernel afterwards: what is loaded lies in its buffer, wherever the loops turn that it varies
// over, or its gate is false.
[[nodiscard]] UOp guard_empty_loops(UOp sink);

}  // namespace croze
