// architectures.h -- what the compiler is told of AMD's graphics processors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "croze/device/caps.h"

namespace croze::amd {

struct Architecture {
  std::string_view name;     // "gfx942", for LLVM
  std::string_view example;  // a product of it
  int least_llvm = 19;       // the first version of LLVM that knows it
  std::int64_t wave = 64;    // items that run in lockstep
  std::int64_t compute_units = 0;
  std::int64_t group_memory = 0;  // bytes, of one group
  std::int64_t l1_bytes = 0;      // of a compute unit
  std::int64_t l2_bytes = 0;
  std::string_view units[2] = {};  // instruction sets of its matrix units (graph/matrix_unit.h)
};

// Those that croze compiles for.
std::span<const Architecture> known_architectures();

// `ops`, `dtypes`: of the language that kernels are written in.
Caps caps_of(const Architecture& architecture, const OpSet& ops, std::uint32_t dtypes);

}  // namespace croze::amd
