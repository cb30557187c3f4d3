// kernel_use.h -- what a kernel takes of the processor that it was compiled for.
#pragma once

#include <string>

namespace croze::targets {

struct KernelUse {
  std::string name;
  int registers = 0;
  int stack_bytes = 0;                    // arrays that are no registers
  int spill_stores = 0, spill_loads = 0;  // of values that there were no registers for
};

}  // namespace croze::targets
