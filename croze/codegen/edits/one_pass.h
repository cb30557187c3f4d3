// one_pass.h -- what the edit of this name would make; one_pass() itself is in transform.h.
#pragma once

#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/tuple.h"

namespace croze {

// A reduction whose terms depend on what another one, its leader, comes to; how a law of
// rules/transport.h says.
struct Follower {
  UOp reduce;
  std::int64_t law = -1;  // -1: it depends on no leader
  UOp leader;
  UOp centre;   // what stands in its terms for the centre, an expression of the leader
  UOp without;  // equality: what a term without the extreme is worth
};

struct OnePassPlan {
  UOp first, second;           // the loops that become one
  std::vector<UOp> around[2];  // loops outside of each, which the reductions close, too
  std::vector<UOp> leaders;
  std::vector<Follower> followers;
};

// Fills `plan` and returns nothing if the reductions over `second` can go along with those over
// `first`; else says why they cannot.
std::string plan_one_pass(UOp sink, UOp first, UOp second, OnePassPlan* plan);

}  // namespace croze
