// kernel_facts.h -- what is made of one kernel, without a device to run it on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/device/caps.h"
#include "croze/schedule/schedule.h"

namespace croze::replay {

struct KernelFacts {
  std::string name;                 // after its loops: "reduce_512_r1000"
  std::string edits;                // that were chosen, as text
  std::string program;              // the linear program, as text
  std::int64_t flops = 0;           // of a run
  std::vector<std::int64_t> bytes;  // distinct ones, by parameter
  double arithmetic = 0;            // cycles of one thread, as block_cost.h estimates
  bool is_parallel = false;         // it is large enough to be shared by threads
};

// Compiles the kernel up to its linear program.
KernelFacts facts_of(const Kernel& kernel, const Caps& caps);

}  // namespace croze::replay
