// interleave_rows.h -- short rows are computed two at a time.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Where each row of a kernel is reduced, and so short that the steps of its reductions wait for
// each other, two rows are copies of the code: one computes while the other waits.
void interleave_rows(KernelState& k);

}  // namespace croze
