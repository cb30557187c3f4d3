// result_order.h -- whether the tiles of a contraction go along the rows of its result.
#pragma once

#include <span>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// The loops of a register tile and of the tiles; each may be null but for the lanes.
struct TileLoops {
  UOp lane, column_unroll, row_unroll, column_loop, row_loop;
};

// A panel of columns in the L1 cache meets all rows, one after the other, and writes a few vectors
// of each: the rows of a large result are so many and so far apart that each of these writes waits
// for its page and its line.  Where the reduction is short, that is longer than fetching the
// columns from the L2 cache: then the loop over columns, or over those of a block, goes inside of
// that over rows.
bool follows_result(const KernelState& k, std::span<const UOp> reduced, const TileLoops& loops,
                    const MachineModel& machine);

// Of so many tiles the L2 cache has room for the columns; 0: of none.
std::int64_t columns_along_result(UOp reduce, std::span<const UOp> reduced, const TileLoops& loops,
                                  const MachineModel& machine);

}  // namespace croze
