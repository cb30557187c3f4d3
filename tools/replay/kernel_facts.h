// kernel_facts.h -- what is made of one kernel, without a device to run it on.
#pragma once

#include <string>

#include "croze/device/caps.h"
#include "croze/schedule/explain/cost.h"
#include "croze/schedule/schedule.h"

namespace croze::replay {

struct KernelFacts {
  NestCost cost;
  std::string edits;    // that were chosen, as text
  std::string program;  // the linear program, as text
};

// Compiles the kernel up to its linear program.
KernelFacts facts_of(const Kernel& kernel, const Caps& caps);

}  // namespace croze::replay
