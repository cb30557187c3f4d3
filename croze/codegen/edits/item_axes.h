// item_axes.h -- which axis of its group each loop over items is.
//
// An output loop over items is an axis of the group.  The loop of a reduction over items needs one,
// too: that of an output loop of the same length which the reduction does not vary over, as the
// columns of a softmax are those of its sums, or else one that all such reductions share and that
// stores nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

struct ItemAxes {
  std::vector<UOp> axes;  // a loop of each; neighbours in a warp are of the first
  std::unordered_map<std::int64_t, std::int64_t> axis_of;  // by the id of the range
  UOp combining;  // the loop of the axis that stores nothing, or null
};

// Nothing if the reductions want more than one axis of their own.  `also`: the loop of a reduction
// that is taken for one over items, too.
std::optional<ItemAxes> item_axes(UOp sink, std::span<const UOp> loops, UOp also = {});

// The kernel, in which one item stores what all of the axis that stores nothing have in common.
UOp stored_once(UOp sink, const ItemAxes& items);

// Bytes of group memory by which items combine what the Reduce closes, `ranges` being all of the
// kernel; 0 if it closes no items.  `also`: as above.
std::int64_t combining_bytes(UOp reduce, std::span<const UOp> ranges, UOp also = {});

}  // namespace croze
