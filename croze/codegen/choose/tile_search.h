// tile_search.h -- which register tile a contraction gets.
#pragma once

#include <cstdint>
#include <limits>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

struct RegisterTile {
  UOp lane;  // the loop cut into lanes: an output loop, or one of the reduction
  bool in_reduction = false;
  std::int64_t lanes = 1;
  UOp columns, rows;  // output loops unrolled; columns is `lane` unless in_reduction
  std::int64_t num_columns = 1, num_rows = 1;  // accumulators: vectors, rows
  bool overlaps = false;  // columns, at the end of a loop that is no multiple of their lanes
  double cost = std::numeric_limits<double>::infinity();
};

// Whether a long reduction, the only one of its kernel, may go in turns: over rows of memory.
bool can_take_turns(const KernelState& k, UOp reduce);

// The cheapest tile by the cost model; its lane is null if there is none.
RegisterTile best_tile(const KernelState& k, UOp reduce);

}  // namespace croze
