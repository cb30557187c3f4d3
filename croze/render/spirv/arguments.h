// arguments.h -- what a kernel in SPIR-V gets with a launch, and where it stands.
//
// All of it is entries of eight bytes: the address of each buffer, each variable, a zero that
// compilers do not know of, and, of kernels whose groups are folded, the numbers of groups along
// the axes, two of 32 bits to an entry.  Few entries are push constants; of more, these hold the
// address.
#pragma once

#include <cstdint>

#include "croze/device/device.h"

namespace croze::spirv {

// What every device has.
inline constexpr std::int64_t most_groups_of_axis = 65535;
inline constexpr int most_pushed = 16;

// A launch has a limited number of groups along an axis.  Where a kernel may have more, they are
// laid in rows along the first two axes, and items find their place from the number of their group;
// the groups behind the last one leave at once.
inline bool is_folded(const Launch& launch) {
  for (const LaunchSize& groups : launch.groups) {
    if (!groups.is_constant() || groups.value({}) > most_groups_of_axis) return true;
  }
  return false;
}

struct Arguments {
  explicit Arguments(const ProgramInfo& info)
      : num_buffers(info.num_buffers),
        num_variables(info.num_variables),
        folded(is_folded(info.launch)) {}

  int buffer(int i) const { return i; }
  int variable(int i) const { return num_buffers + i; }
  int zero() const { return num_buffers + num_variables; }
  int groups() const { return zero() + 1; }  // and the entry after it
  int count() const { return groups() + (folded ? 2 : 0); }
  bool are_pushed() const { return count() <= most_pushed; }

  int num_buffers, num_variables;
  bool folded;
};

}  // namespace croze::spirv
