// memory_order.h -- which steps wait for which because of memory that is overwritten.
#pragma once

#include <span>
#include <vector>

#include "croze/schedule/kernels.h"

namespace croze {

struct MemoryWaits {
  std::vector<std::vector<int>> waits_for;  // by step
  // A step that waits to overwrite what another reads of a state.
  struct Overwrite {
    int writer, reader;
    UOp state;
  };
  std::vector<Overwrite> overwrites;
};

// What a step reads of a state of memory it reads after the assignments that lead to that state and
// before the later ones; assignments run one after the other.  Where regions are apart there is no
// order: rows of one tensor can be assigned to at once.
MemoryWaits memory_waits(std::span<const PendingStep> steps);

}  // namespace croze
