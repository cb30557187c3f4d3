// launch.h -- running a schedule over bound buffers.
#pragma once

#include <memory>
#include <span>

#include "croze/device/device.h"
#include "croze/run/programs.h"
#include "croze/schedule/schedule.h"

namespace croze {

// Launches every kernel and makes every copy of a schedule, in order.  `programs`: one per step,
// null for a copy; `views`: one per buffer; `variables`: the words of the numbers that are passed.
void launch_all(const Schedule& schedule,
                std::span<const std::shared_ptr<const LoadedProgram>> programs,
                std::span<const MemoryView> views, std::span<const std::int64_t> variables);

}  // namespace croze
