// panels.h -- which operands of a tile are copied to where it reads them in order.
#pragma once

#include <cstdint>
#include <span>

#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/uop.h"

namespace croze {

// Tiles of rows from which a panel of what the lanes read at a place pays: INT64_MAX, there is
// none, where the columns of all steps of the reduction follow each other in memory.
std::int64_t least_uses_of_panel(UOp place, UOp lane, std::span<const UOp> reduced);

// Tiles of columns from which a copy of rows pays that lie side by side: where steps lie near, a
// line that a tile reads a piece of is still there for the next.
std::int64_t least_uses_of_rows(UOp place, std::span<const UOp> reduced,
                                const MachineModel& machine);

}  // namespace croze
