// subgroups.h -- internal to backends/opencl/: items that give each other what they have.
#pragma once

#include <cstdint>

#include "croze/backends/opencl/context.h"

namespace croze::opencl {

// What the items of a subgroup do together, where the subgroups of all kernels have one size, which
// the compiler was seen to choose, or is told (cl_intel_required_subgroup_size).
struct Subgroups {
  std::int64_t items = 0;  // 0: the device has none, or of a size that nobody knows
  bool shuffle = false, ballot = false;
  bool are_required = false;  // kernels have to say the size

  static Subgroups of(const Context& context);
};

// The items of a subgroup of the kernel in groups of so many along one axis; 0 if unknown.
std::int64_t subgroup_items(const Context& context, cl_kernel kernel, std::int64_t items);

}  // namespace croze::opencl
