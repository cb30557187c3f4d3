// linearize.h -- a lowered kernel graph becomes a list of instructions in loops.
#pragma once

#include <span>
#include <vector>

#include "croze/codegen/lower/expand.h"
#include "croze/graph/uop.h"

namespace croze {

struct LinearizeInput {
  UOp sink;
  std::span<const std::int64_t> loops;  // ids of the output loops, outermost first
  std::span<const RegisterScope> registers;
  bool prefetches = false;  // the device has Op::Prefetch
  // Its processor does not foresee what is loaded with masks, as those without registers for masks.
  bool is_blind_to_masks = false;
};

// The instructions of render/program.h.  Every value stands in the outermost loop it can.
std::vector<UOp> linearize(const LinearizeInput& input);

}  // namespace croze
