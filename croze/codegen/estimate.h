// estimate.h -- what a kernel does, in numbers: for reports and for choosing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/edits/item_axes.h"
#include "croze/device/device.h"
#include "croze/graph/uop.h"

namespace croze {

// Name, number of parameters, arithmetic and memory traffic of a kernel before its edits.
ProgramInfo estimate(UOp sink);

// Its memory traffic buffer by buffer: distinct bytes, by slot of the parameter.
std::vector<std::int64_t> bytes_touched(UOp sink);

// The launch that the Thread and Group loops, and the axes of items, ask for.
Launch launch_of(std::span<const UOp> loops, const ItemAxes& items);

}  // namespace croze
