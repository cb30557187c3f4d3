// cooperative_units.h -- the units of subgroups: the cooperative matrices of Vulkan's drivers.
#pragma once

#include <span>
#include <string_view>

#include "croze/graph/matrix_unit.h"

namespace croze {

// MatrixUnit::extension of all of them.
inline constexpr std::string_view cooperative_matrices = "cooperative";

// Of the shapes and dtypes that drivers are known to have, each for the subgroup that it has there.
std::span<const MatrixUnit> cooperative_units();

}  // namespace croze
