// ptxas_notes.h -- what NVIDIA's assembler tells of kernels: registers, and what it had to put into
// memory because there are too few.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croze::targets {

struct KernelUse {
  std::string name;
  int registers = 0;
  int stack_bytes = 0;                    // arrays that are no registers
  int spill_stores = 0, spill_loads = 0;  // bytes
};

// Of each entry function, in the order of the notes.
std::vector<KernelUse> kernel_uses(std::string_view notes);

}  // namespace croze::targets
