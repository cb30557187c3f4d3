// led_blocks.h -- internal to schedule/: sequences that are cut along the terms of a softmax, too.
#pragma once

#include "croze/codegen/choose/machine_model.h"
#include "croze/schedule/blocks/block_cut.h"

namespace croze {

// Where blocks of whole rows are more than a cache holds, or load too much again, the step is cut
// along its rows as well; else it stays as it is.
void cut_rows_of_softmax(PendingStep& step, BlockPlan& plan, Schedule& schedule,
                         const MachineModel& machine);

}  // namespace croze
