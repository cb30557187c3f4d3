// pipeline.h -- one kernel to a linear program.
#pragma once

#include <string>
#include <vector>

#include "device/caps.h"
#include "graph/uop.h"
#include "render/program.h"

namespace croze {

// Called after each pass with its name and the kernel as it is then; for CROZE_DEBUG=5 and viz.
struct PassObserver {
  void (*after_pass)(void* context, const char* pass, UOp sink) = nullptr;
  void (*edits)(void* context, const std::vector<std::string>& applied) = nullptr;
  void* context = nullptr;
};

struct KernelState;

// Who picks the edits of a kernel; choose_edits() (choose/choose.h) if nobody does.
struct Chooser {
  void (*choose)(void* context, KernelState& k, const Caps& caps) = nullptr;
  void* context = nullptr;
};

// Compiles `kernel` (schedule.h) for a device with these capabilities.  The result works in a graph
// of its own; nothing of the kernel's graph is touched, so kernels compile in parallel.
LinearProgram make_program(UOp kernel, const Caps& caps, const PassObserver& observer = {},
                           const Chooser& chooser = {});

}  // namespace croze
