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
  UOp columns,
      rows;  // output loops unrolled; columns is `lane`, or one of which each gets a vector
  std::int64_t num_columns = 1, num_rows = 1;  // accumulators: vectors, rows
  bool overlaps = false;  // columns, at the end of a loop that is no multiple of their lanes
  // Iterations of the outermost loop of the reduction that go at a time over all tiles of a block,
  // whose sums wait in memory meanwhile; 0: a tile is reduced in one go.
  std::int64_t turn = 0;
  // Rows are read in order from wherever they are for each tile of columns, which threads share:
  // there are no blocks of them.
  bool streams_rows = false;
  bool columns_feed = false;  // threads share the columns, not blocks of rows
  double cost = std::numeric_limits<double>::infinity();
};

// The cheapest tile by the cost model, with lanes along a loop of the output if one is given; its
// lane is null if there is none.
RegisterTile best_tile(const KernelState& k, UOp reduce, UOp lane = {});

}  // namespace croze
