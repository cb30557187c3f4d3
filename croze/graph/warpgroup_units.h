// warpgroup_units.h -- the units of four warps: NVIDIA's wgmma.
#pragma once

#include <span>

#include "croze/graph/matrix_unit.h"

namespace croze {

// Of float16, bfloat16, bytes and the floats of a byte; by 64, 128 or 256 columns; and of factors
// of two bytes each with the terms of a line side by side, or lines.
std::span<const MatrixUnit> warpgroup_units();

}  // namespace croze
