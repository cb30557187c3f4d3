// transpose.h -- tiles that are read along one axis and written along the other.
#pragma once

#include <optional>
#include <vector>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// What a store closes of a square tile: as many copies as lanes.  The value is made along the
// lanes, and memory is contiguous along the copies.
struct TransposedTile {
  UOp lane, unrolled;
};

// The tile of the Store, if it has one that the device can turn in its registers.
std::optional<TransposedTile> transposed_tile(UOp store, const Caps& caps);

// Of n vectors with n lanes, a power of two, the vectors that hold lane 0 of each, lane 1, ...
std::vector<UOp> transposed(std::vector<UOp> vectors);

}  // namespace croze
