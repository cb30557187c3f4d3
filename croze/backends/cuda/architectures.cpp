// architectures.cpp -- the numbers are those of the tables of compute capabilities in NVIDIA's
// programming guide, and of the product that is named.
#include "croze/backends/cuda/architectures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "croze/base/options.h"
#include "croze/graph/matrix_unit.h"

namespace croze::cuda {

namespace {

constexpr std::int64_t warp = 32;
constexpr std::string_view of_fp8 = "mma.sync-fp8", of_warpgroups = "wgmma";
constexpr std::int64_t registers_of_a_thread = 255;
constexpr std::int64_t registers_of_a_multiprocessor = 1 << 16;

// By cp.async.bulk.tensor, which fills what these units read; the barriers that await it lie in
// memory of the group, in front of tiles or behind them.
void copy_boxes(Caps& caps) {
  constexpr std::int64_t bytes_of_barriers = 1 << 10;
  caps.copies_boxes = true;
  caps.group_memory -= bytes_of_barriers;
  caps.architecture += " tma";
}

}  // namespace

std::string architecture_name(int major, int minor) {
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

std::vector<std::string_view> units_of_capability(int major, int minor) {
  if (major < 8) return {};
  std::vector<std::string_view> units{"mma.sync", "mma.sync-tf32"};
  if (major > 8 || minor >= 9) units.push_back(of_fp8);
  if (major == 9) units.push_back(of_warpgroups);
  return units;
}

std::span<const Architecture> known_architectures() {
  static const Architecture table[] = {
      {.name = "sm_80",
       .example = "A100",
       .multiprocessors = 108,
       .group_memory = 163 << 10,
       .l1_bytes = 192 << 10,
       .l2_bytes = 40 << 20,
       .units = units_of_capability(8, 0)},
      {.name = "sm_90a",
       .example = "H100",
       .multiprocessors = 132,
       .group_memory = 227 << 10,
       .l1_bytes = 256 << 10,
       .l2_bytes = 50 << 20,
       .units = units_of_capability(9, 0)},
      {.name = "sm_100a",
       .example = "B200",
       .multiprocessors = 148,
       .group_memory = 227 << 10,
       .l1_bytes = 256 << 10,
       .l2_bytes = 126 << 20,
       .units = units_of_capability(10, 0)},
  };
  return table;
}

Caps caps_of(const Architecture& architecture, Language language) {
  Caps caps;
  caps.device = "CUDA";
  caps.architecture = architecture.name;
  caps.ops = language.ops;
  caps.dtypes = language.dtypes;
  caps.storage = language.dtypes | language.storage;
  caps.threads = architecture.multiprocessors;
  caps.has_groups = true;
  caps.warp_items = warp;
  caps.shuffles_items = caps.ballots_items = true;
  caps.loads_matrices = true;
  caps.item_registers = registers_of_a_thread;
  caps.unit_registers = registers_of_a_multiprocessor;
  caps.max_items = architecture.max_items;
  std::ranges::copy(architecture.max_group_axis, caps.max_group_axis);
  std::ranges::copy(architecture.max_groups_axis, caps.max_groups_axis);
  caps.group_memory = std::min(architecture.group_memory, language.most_group_memory);
  caps.vector_bytes = 16;
  caps.copies_async = architecture.copies_async;
  caps.l1_bytes = architecture.l1_bytes;
  caps.l2_bytes = architecture.l2_bytes;
  caps.alignment = 256;
  for (std::string_view set : architecture.units) {
    if (set == of_fp8 && !language.multiplies_fp8) continue;
    if (set == of_warpgroups) {
      if (!Options::flag(Option::Wgmma)) continue;
      caps.architecture += " wgmma";
      if (architecture.copies_boxes) copy_boxes(caps);
    }
    std::ranges::copy(units_of_extension(set), std::back_inserter(caps.matrix_units));
  }
  return caps;
}

}  // namespace croze::cuda
