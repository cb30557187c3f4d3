// rare_sides.h -- what is dear and computed for one side of choices alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// One side of choices by one condition for the same turns of loops.  It is about values of memory:
// what indices say is known to the edits.
struct RareSide {
  UOp condition;
  int source = 1;              // of the choices: 1 or 2
  std::vector<UOp> choices{};  // in order
  std::vector<UOp> work{};     // users before what they use
  std::int64_t cost = 0;
};

// The sides of a lowered kernel that are worth a jump, of which no two have work or choices in
// common.  All choices of one side can wait for one loop: neither one of them nor a loop that waits
// for one is what another one is made of.  `order` is the kernel, operands first, `loops` are the
// ids of its output loops.
std::vector<RareSide> rare_sides(std::span<const UOp> order, std::span<const std::int64_t> loops);

}  // namespace croze
