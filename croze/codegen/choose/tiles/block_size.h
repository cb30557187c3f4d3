// block_size.h -- how many tiles a block has.
#pragma once

#include <cstdint>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// At most so many tiles of a loop over them: a divisor of what there is, unless that is far less,
// or blocks that overlap are done earlier.
std::int64_t tiles_of_block(const KernelState& k, UOp loop, std::int64_t most);

// How many tiles a block has at most where threads share nothing but the blocks: some for each, or
// one, where they would have uneven shares of those.
std::int64_t shared_tiles(const KernelState& k, UOp loop, const MachineModel& machine);

}  // namespace croze
