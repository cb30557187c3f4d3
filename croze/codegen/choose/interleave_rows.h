// interleave_rows.h -- several rows are computed at once.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Where each row of a kernel is reduced, and so short that the steps of its reductions wait for
// each other, two rows are copies of the code: one computes while the other waits.  Rows of a
// matrix that is multiplied by a vector, long or short, are four copies, which load the vector
// once.  A few vectors that a packed matrix is multiplied by are copies, too, for which it is
// unpacked once.
void interleave_rows(KernelState& k);

}  // namespace croze
