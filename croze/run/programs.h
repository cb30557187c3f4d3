// programs.h -- compiled kernels, kept in memory and on disk.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "run/execute.h"
#include "schedule/schedule.h"

namespace croze {

struct LoadedProgram {
  ProgramInfo info;
  std::unique_ptr<Program> program;
};

struct KernelRequest {
  std::shared_ptr<const Kernel> kernel;
  int device = 0;
};

// The programs of the kernels, in order; those not in a cache are compiled in parallel.  Adds to
// the statistics.
std::vector<std::shared_ptr<LoadedProgram>> load_programs(std::span<const KernelRequest> requests,
                                                          RunStatistics& statistics);
void clear_program_cache();

}  // namespace croze
