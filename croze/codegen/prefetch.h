// prefetch.h -- which memory a loop fetches for the next turn of the loop around it.
#pragma once

#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// `places` are read in each turn of `inner`, a reduction that stands in `outer`; their indices are
// sized integers.  Returns the places that are fetched in a turn of `inner` so that after all its
// turns what the next turn of `outer` reads is near: about a cache line a turn, perhaps beyond the
// buffers.  None where all places move with `outer`: only where others stay, because they are used
// again, are the moving ones rows of a tile, too many for the hardware to foresee.
std::vector<UOp> places_of_next_turn(std::span<const UOp> places, UOp inner, UOp outer);

// The same of rows that `inner` walks along and whose numbers `outer` reads from memory: places in
// a row that comes some turns of `outer` later, or of its last one.  The numbers are read where
// they are in any case.
std::vector<UOp> places_of_later_rows(std::span<const UOp> places, UOp inner, UOp outer);

}  // namespace croze
