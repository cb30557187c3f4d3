// neighbours.h -- lists of edits that are one step away from another one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/edits/edit.h"
#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze::tune {

using EditList = std::vector<Edit>;

// Up to `most` lists that `kernel` takes and that differ from `edits` by one size, one order, one
// edit fewer or one more; which of them, and in which order, the seed decides.
std::vector<EditList> neighbours(UOp kernel, const Caps& caps, const EditList& edits,
                                 std::size_t most, std::uint64_t seed);

}  // namespace croze::tune
