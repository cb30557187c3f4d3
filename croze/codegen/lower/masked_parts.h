// masked_parts.h -- the loop of a masked reduction, in parts with and without the mask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// Some turns of a loop: those of `loop`, which begin at `first`.
struct MaskedPart {
  UOp loop, first;
  bool is_open;  // for all of a tile
};

// What a tile of causal attention sums up,
//
//     where(key < query + 1, weight[query, key] * v[key, d], 0)
//
// is behind the mask for some of its queries in the last turns of the loop over keys alone.  The
// parts are the turns in which the mask is open for the whole tile, and those before and after
// them: one after the other they are the loop.  None if the loop that `reduce` closes cannot be cut
// so, or not to any use.  `order` is the kernel; new loops are numbered from `next_range` on.
[[nodiscard]] std::vector<MaskedPart> parts_by_mask(UOp reduce, std::span<const UOp> order,
                                                    std::int64_t& next_range);

}  // namespace croze
