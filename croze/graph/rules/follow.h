// follow.h -- how the terms of a reduction depend on what another one, its leader, comes to.
#pragma once

#include <functional>
#include <optional>

#include "croze/graph/rules/transport.h"
#include "croze/graph/uop.h"

namespace croze {

// A reduction beside its leader.
struct LedReduction {
  Op op;                              // which combines its terms
  UOp value;                          // a term
  UOp leader;                         // what stands in a term for what the leader comes to
  Op leader_op;                       // which combines the terms of that
  UOp terms;                          // a term of the leader, for the same element
  std::function<bool(UOp)> is_count;  // whether a node is how many terms the leader has
};

struct Following {
  TransportLaw law;
  UOp centre;   // what stands in the value for the centre, an expression of the leader
  UOp without;  // equality: what a term without the extreme is worth
};

// Nothing if no law of transport.h says how the value moves with the leader.
std::optional<Following> find_law(const LedReduction& reduction);

// Whether `u` is computed from `part`.
bool is_used_by(UOp u, UOp part);

// `u` with the loops of the reductions in it that vary over `range` those of the reductions in
// `like` that do, in order: the same expression in two places is one node then.  `u` itself if they
// do not turn alike.
UOp with_reductions_of(UOp u, UOp like, UOp range);

// Built anew: two equal expressions are one node then, whatever the order that their operands came
// to stand in.
UOp rebuilt(UOp root);

}  // namespace croze
