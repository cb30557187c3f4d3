// contractions.h -- sums that matrix units add up, in terms of Op::Contract.
#pragma once

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Every Reduce over terms that a unit takes at once (LoopKind::Depth) becomes one over what is left
// of its loops, of Contracts: the lanes of a vector and the terms are those of the unit's operands.
UOp lower_contractions(UOp sink, const Caps& caps);

}  // namespace croze
