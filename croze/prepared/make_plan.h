// make_plan.h -- internal to prepared/: from what a step has recorded to a plan.
#pragma once

#include "croze/jit/recording.h"
#include "croze/prepared/plan.h"

namespace croze::prepared {

// Schedules the step for one thread of the CPU, compiles its kernels and lays out its memory.
// Throws Error as prepare() says.
Plan make_plan(StepRecording step, const PrepareOptions& options);

}  // namespace croze::prepared
