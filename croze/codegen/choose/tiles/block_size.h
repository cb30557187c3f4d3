// block_size.h -- how many tiles a block has.
#pragma once

#include <cstdint>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// At most so many tiles of a loop over them: a divisor of what there is, unless that is far less,
// or blocks that overlap are done earlier.
std::int64_t tiles_of_block(const KernelState& k, UOp loop, std::int64_t most);

}  // namespace croze
