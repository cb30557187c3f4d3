// launch.h -- running a schedule over bound buffers.
#pragma once

#include <span>

#include "croze/device/device.h"
#include "croze/run/plan.h"

namespace croze {

namespace tracing {
class RunTrace;
}

// Launches every kernel and makes every copy of a schedule, in order.  `views`: one per buffer;
// `variables`: the words of the numbers that are passed.
void launch_all(const PreparedRun::Plan& plan, std::span<const MemoryView> views,
                std::span<const std::int64_t> variables, const tracing::RunTrace& trace);

}  // namespace croze
