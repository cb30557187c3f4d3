// block_repeat.h -- internal to schedule/: steps that are the prelude of those who read them.
#pragma once

#include <span>

#include "croze/codegen/choose/machine_model.h"
#include "croze/schedule/blocks/block_cut.h"

namespace croze {

// The sequence in which the nests of a producer come first, whole and the same in all blocks, and
// then a part of each reader.  These wait for nothing of each other; of several each is cut along
// one axis.  How many blocks there are is left open.
BlockPlan repeated_plan(const BlockPlan& producer, std::span<const BlockPlan* const> readers,
                        const MachineModel& machine);

}  // namespace croze
