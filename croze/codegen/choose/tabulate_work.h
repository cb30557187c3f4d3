// tabulate_work.h -- what vectors of a reduction have in common, computed by vectors.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Tabulates, for reductions of vectors, what is dear and the same for all lanes: to be called when
// lanes and copies have been chosen.
void tabulate_work(KernelState& k);

}  // namespace croze
