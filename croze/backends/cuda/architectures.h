// architectures.h -- what the compiler is told of NVIDIA's processors: by the driver of one that is
// here, by a table of those that are not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/device/caps.h"

namespace croze::cuda {

struct Architecture {
  std::string name;     // "sm_90a", for compilers
  std::string example;  // a product of it; empty: the machine's own
  std::int64_t multiprocessors = 0;
  std::int64_t group_memory = 0;  // bytes, of one group
  std::int64_t l1_bytes = 0;      // of a multiprocessor, group memory included
  std::int64_t l2_bytes = 0;
  // Instruction sets of its matrix units, as in their records (graph/matrix_unit.h).
  std::vector<std::string_view> units = {};
  bool copies_async = true;  // has cp.async
  bool copies_boxes = true;  // if it can: who launches has tensor maps for it
  std::int64_t max_items = 1024;
  std::int64_t max_group_axis[3] = {1024, 1024, 64};
  std::int64_t max_groups_axis[3] = {INT32_MAX, 65'535, 65'535};
};

// "sm_90a" of 9 and 0: from Hopper on, code for one processor may use all that it has.
std::string architecture_name(int major, int minor);

// The instruction sets of matrix units that a compute capability has, of those that croze knows.
std::vector<std::string_view> units_of_capability(int major, int minor);

// Those that croze compiles for without having one.
std::span<const Architecture> known_architectures();

// What a renderer's language has, as in Caps.
struct Language {
  OpSet ops = {};
  std::uint32_t dtypes = 0;
  std::uint32_t storage = 0;  // beside the dtypes
  std::int64_t most_group_memory = INT64_MAX;
  bool multiplies_fp8 = true;  // by the matrix units of processors that do
};
Caps caps_of(const Architecture& architecture, Language language);

}  // namespace croze::cuda
