// copied_loops.h -- of what a value has copies.
#pragma once

#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The unrolled loops that the value has copies for: each has a row of a tile.
std::vector<UOp> loops_with_copies(UOp value);

}  // namespace croze
