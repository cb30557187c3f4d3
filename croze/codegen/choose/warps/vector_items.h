// vector_items.h -- items for all else than contractions, where warps are vectors of a processor.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Makes items of output loops, and copies of the code of others.
void map_vector_items(KernelState& k);

}  // namespace croze
