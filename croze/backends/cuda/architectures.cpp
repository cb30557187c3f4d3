// architectures.cpp -- the numbers are those of the tables of compute capabilities in NVIDIA's
// programming guide, and of the product that is named.
#include "croze/backends/cuda/architectures.h"

#include <fmt/format.h>

#include <algorithm>

namespace croze::cuda {

std::string architecture_name(int major, int minor) {
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

std::span<const Architecture> known_architectures() {
  static const Architecture table[] = {
      {.name = "sm_80",
       .example = "A100",
       .multiprocessors = 108,
       .group_memory = 163 << 10,
       .l1_bytes = 192 << 10,
       .l2_bytes = 40 << 20},
      {.name = "sm_90a",
       .example = "H100",
       .multiprocessors = 132,
       .group_memory = 227 << 10,
       .l1_bytes = 256 << 10,
       .l2_bytes = 50 << 20},
      {.name = "sm_100a",
       .example = "B200",
       .multiprocessors = 148,
       .group_memory = 227 << 10,
       .l1_bytes = 256 << 10,
       .l2_bytes = 126 << 20},
  };
  return table;
}

Caps caps_of(const Architecture& architecture, Language language) {
  Caps caps;
  caps.device = "CUDA";
  caps.architecture = architecture.name;
  caps.ops = language.ops;
  caps.dtypes = caps.storage = language.dtypes;
  caps.has_groups = true;
  caps.max_items = architecture.max_items;
  std::ranges::copy(architecture.max_group_axis, caps.max_group_axis);
  std::ranges::copy(architecture.max_groups_axis, caps.max_groups_axis);
  caps.group_memory = architecture.group_memory;
  caps.vector_bytes = 16;
  caps.l1_bytes = architecture.l1_bytes;
  caps.l2_bytes = architecture.l2_bytes;
  caps.alignment = 256;
  return caps;
}

}  // namespace croze::cuda
