// box_fill.h -- tiles that a device copies from memory by boxes, for items to look at nothing.
#pragma once

#include <optional>
#include <vector>

#include "croze/graph/index/index_form.h"
#include "croze/graph/uop.h"

namespace croze {

// One of the axes along which what a place is in lies in memory, for boxes.
struct BoxAxis {
  LinearForm coordinate;
  std::int64_t stride;  // in elements
  std::int64_t size;    // what is beyond is not there: zeros
};

// The axes of a place, that of steps of one element first and the others by their strides: a
// coordinate of the first goes by one with the range `along`, that of another one by one with
// `across`, and what the gate shuts out is beyond an axis.  Nothing if there are no such axes, or
// if the device cannot copy boxes of them.
std::optional<std::vector<BoxAxis>> box_axes(UOp place, UOp along, UOp across);

}  // namespace croze
