// tile_search.h -- which register tile a contraction gets.
#pragma once

#include "croze/codegen/choose/tiles/tile_cost.h"
#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// The cheapest tile by the cost model, with lanes along a loop of the output if one is given; its
// lane is null if there is none.  Costs are of one term of the reduction, with a unit, too.
RegisterTile best_tile(const KernelState& k, UOp reduce, UOp lane = {}, UnitTerms by_unit = {});

}  // namespace croze
