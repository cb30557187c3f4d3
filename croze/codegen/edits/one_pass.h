// one_pass.h -- what the edit of this name would make; one_pass() itself is in transform.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/tuple.h"

namespace croze {

// A reduction whose terms depend on what another one, its leader, comes to; how a law of
// rules/transport.h says.
struct Follower {
  UOp reduce;
  std::size_t loops = 0;  // in which it runs: OnePassPlan::loops
  std::int64_t law = -1;  // -1: it depends on no leader
  UOp leader;
  UOp centre;   // what stands in its terms for the centre, an expression of the leader
  UOp without;  // equality: what a term without the extreme is worth
};

// Loops that become one with others, and what the reductions over it close.
struct PassLoops {
  UOp loop;
  std::vector<UOp> around, inside;
};

struct OnePassPlan {
  std::vector<PassLoops> loops;  // those of the leaders first
  std::vector<UOp> leaders;
  std::vector<Follower> followers;  // those that others depend on first
};

// Fills `plan` and returns nothing if the reductions over the other loops can go along with those
// over the first one; else says why they cannot.  Those over the same loop stand in the same place;
// they may vary over more loops than those over the first one.
std::string plan_one_pass(UOp sink, std::span<const UOp> loops, OnePassPlan* plan);

}  // namespace croze
