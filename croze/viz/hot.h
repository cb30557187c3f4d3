// hot.h -- the instructions at which threads were seen, of a trace with samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/trace/trace.h"

namespace croze {

struct HotInstruction {
  std::int64_t offset = 0;  // in the code of the kernel
  std::int64_t samples = 0;
  std::string text;  // "vmulps\t%ymm0, %ymm1, %ymm0"; empty where the trace has no disassembly
};

struct HotKernel {
  std::string name;
  std::int64_t samples = 0;
  std::vector<HotInstruction> instructions;  // the hottest first
};

// The kernels in which threads were seen, the hottest first.
std::vector<HotKernel> hot_kernels(const traces::Trace& trace);

}  // namespace croze
