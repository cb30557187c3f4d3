// schedule_bytes.h -- schedules as bytes, so that another process need not make them again.
#pragma once

#include <string>
#include <string_view>

#include "croze/schedule/schedule.h"

namespace croze {

std::string schedule_to_bytes(const Schedule& schedule);

// What a schedule is of: so many inputs and roots, and so many variables of a launch, on one
// device.
struct ScheduleFrame {
  std::size_t inputs = 0, roots = 0, variables = 0;
  int device = 0;
};

// The schedule again.  Throws Error for what is none of that: damaged bytes, or places that a run
// would look for in vain.
Schedule schedule_from_bytes(std::string_view bytes, const ScheduleFrame& frame);

}  // namespace croze
