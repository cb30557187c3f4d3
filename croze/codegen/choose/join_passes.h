// join_passes.h -- long reductions read their terms once.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Where reductions that need what others come to (a sum of exponentials its maximum, a variance its
// mean) would read from memory again what no longer is in the cache, they go along with the others,
// in blocks that the cache holds.
void join_passes(KernelState& k);

}  // namespace croze
