// programs.h -- compiled kernels, kept in memory and on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "croze/device/device.h"
#include "croze/schedule/schedule.h"

namespace croze {

struct LoadedProgram {
  ProgramInfo info;
  std::unique_ptr<Program> program;
  std::int64_t code_bytes = 0;
};

struct KernelRequest {
  std::shared_ptr<const Kernel> kernel;
  int device = 0;
  bool in_sequence = false;  // it runs over a block of a sequence, on the thread that has the block
};

// The programs of the kernels, in order.  Those in no cache are compiled in parallel; one that
// another thread compiles at the moment is waited for.  Counts in run_counters().
std::vector<std::shared_ptr<const LoadedProgram>> load_programs(
    std::span<const KernelRequest> requests);
void clear_program_cache();

}  // namespace croze
