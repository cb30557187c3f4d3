// panel.h -- what is computed for all rows of a tile alike; panel() itself is in transform.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The largest expressions, computed from memory, that vary over the lanes and over no loop but
// those of reductions and those that what the lanes load for them varies over: weights of some bits
// each and the scales of their blocks, decoded.  Integers are left as narrow as they are.
std::vector<UOp> values_of_lanes(UOp sink, UOp lanes);

// Bytes of the tiles that panel() would make of them, over those of the loops that each varies
// over; 2^48 if it is more.
std::int64_t panel_bytes(std::span<const UOp> values, std::span<const UOp> loops);

}  // namespace croze
