// architectures.cpp -- the numbers are those of AMD's manuals of instruction sets (CDNA 3 and 4,
// RDNA 3 and 4), and of the product that is named.
#include "croze/backends/amd/architectures.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>

#include "croze/graph/matrix_unit.h"

namespace croze::amd {

std::span<const Architecture> known_architectures() {
  static constexpr Architecture table[] = {
      {.name = "gfx942",
       .example = "MI300X",
       .compute_units = 304,
       .group_memory = 64 << 10,
       .l1_bytes = 32 << 10,
       .l2_bytes = 4 << 20,
       .units = {"mfma", "mfma-fnuz"}},
      {.name = "gfx950",
       .example = "MI355X",
       .least_llvm = 20,
       .compute_units = 256,
       .group_memory = 160 << 10,
       .l1_bytes = 32 << 10,
       .l2_bytes = 4 << 20,
       .units = {"mfma-k32", "mfma"}},
      {.name = "gfx1100",
       .example = "RX 7900 XTX",
       .wave = 32,
       .compute_units = 96,
       .group_memory = 64 << 10,
       .l1_bytes = 32 << 10,
       .l2_bytes = 6 << 20,
       .units = {"wmma-11"}},
      {.name = "gfx1200",
       .example = "RX 9060 XT",
       .wave = 32,
       .compute_units = 32,
       .group_memory = 64 << 10,
       .l1_bytes = 32 << 10,
       .l2_bytes = 4 << 20,
       .units = {"wmma-12"}},
  };
  return table;
}

Caps caps_of(const Architecture& architecture, const OpSet& ops, std::uint32_t dtypes) {
  // The size of a launch along an axis is counted in items, of 32 bits.
  constexpr std::int64_t most_groups = UINT32_MAX / 1024;
  Caps caps;
  caps.device = "AMD";
  caps.architecture = architecture.name;
  caps.ops = ops;
  caps.dtypes = caps.storage = dtypes;
  caps.threads = architecture.compute_units;
  caps.has_groups = true;
  caps.warp_items = architecture.wave;
  caps.shuffles_items = caps.ballots_items = true;
  caps.max_items = 1024;
  std::ranges::fill(caps.max_group_axis, 1024);
  std::ranges::copy(std::initializer_list<std::int64_t>{most_groups, 65'535, 65'535},
                    caps.max_groups_axis);
  caps.group_memory = architecture.group_memory;
  caps.item_registers = 128;  // what each has in the largest groups
  caps.vector_bytes = 16;
  caps.l1_bytes = architecture.l1_bytes;
  caps.l2_bytes = architecture.l2_bytes;
  caps.alignment = 256;
  for (std::string_view set : architecture.units) {
    if (!set.empty())
      std::ranges::copy(units_of_extension(set), std::back_inserter(caps.matrix_units));
  }
  return caps;
}

}  // namespace croze::amd
