// share.h -- which reductions can run in the same loops; share() itself is in transform.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The loops that a Store or Reduce closes and in which the program turns: lanes and copies of the
// code stand side by side.
std::vector<UOp> turning_ranges(UOp u);

// Why the reductions over the loops `dropped` cannot run in the loops `kept` of another one; empty
// if they can.  `order` has all nodes of the kernel, sources first.
std::string refuse_sharing(std::span<const UOp> order, const std::vector<UOp>& kept,
                           const std::vector<UOp>& dropped);

}  // namespace croze
