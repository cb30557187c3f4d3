// panels.h -- which columns of a tile are copied to a panel.
#pragma once

#include <cstdint>
#include <span>

#include "croze/graph/uop.h"

namespace croze {

// Tiles of rows from which a panel of what the lanes read at a place pays: INT64_MAX, there is
// none, where the columns of all steps of the reduction follow each other in memory.
std::int64_t least_uses_of_panel(UOp place, UOp lane, std::span<const UOp> reduced);

}  // namespace croze
