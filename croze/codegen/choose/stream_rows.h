// stream_rows.h -- reductions down the columns of a matrix that no cache holds.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// A reduction that lanes of an output loop make, over rows of memory that lie far apart, goes some
// rows at a time over all columns of a block, whose sums wait in a tile.  False, and nothing done,
// where there is no such reduction or the caches hold what it reads.
bool stream_rows(KernelState& k);

}  // namespace croze
