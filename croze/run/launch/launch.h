// launch.h -- running a schedule over bound buffers.
#pragma once

#include <span>

#include "croze/device/device.h"
#include "croze/run/plan.h"

namespace croze {

namespace tracing {
class RunTrace;
}

// Where the work of a run goes that is for the device of a queue; all other work goes to its device
// directly.  None: all of it.
struct QueueStream {
  Device* device = nullptr;
  DeviceStream* stream = nullptr;
};

// Launches every kernel and makes every copy of a schedule, in order.  `views`: one per buffer;
// `variables`: the words of the numbers that are passed.
void launch_all(const PreparedRun::Plan& plan, std::span<const MemoryView> views,
                std::span<const std::int64_t> variables, const tracing::RunTrace& trace,
                QueueStream queue = {});

}  // namespace croze
