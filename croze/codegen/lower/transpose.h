// transpose.h -- tiles that are read along one axis and written along the other.
#pragma once

#include <optional>
#include <vector>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Whether lanes of such values can be exchanged; of halves without arithmetic, of their bits.
bool can_exchange(DType t, const Caps& caps);

// What a store closes of a tile that is written across: no more copies than lanes, powers of two.
// The value is made along the lanes, and memory is contiguous along the copies; where these are
// fewer, the copies of one lane are followed by those of the next.  Or so many lanes as `terms`
// says stay side by side, those of a copy followed by those of the next, of as many as there are
// such runs.  A vector may hold such a row of several tiles, of `lanes` each, and memory those of
// one tile before those of the next.
struct TransposedTile {
  UOp lane, unrolled;
  std::int64_t lanes;
  std::int64_t terms = 1;
};

// The tile of the Store, if it has one that the device can turn in its registers.
std::optional<TransposedTile> transposed_tile(UOp store, const Caps& caps);

// Of vectors with so many lanes, no fewer than there are vectors, the first run of `terms` lanes of
// each, then the second of each, .., in as many vectors; the same of every so many lanes of longer
// ones.
std::vector<UOp> transposed(std::vector<UOp> vectors, std::int64_t lanes, std::int64_t terms);

}  // namespace croze
