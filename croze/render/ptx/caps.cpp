// caps.cpp -- what PTX has, and what every GPU that runs it can do.
#include <fmt/format.h>

#include <cstdint>

#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/elementwise.h"
#include "croze/render/ptx/ptx.h"

namespace croze {

std::string PtxRenderer::entry(std::string_view kernel) { return fmt::format("croze_{}", kernel); }

OpSet PtxRenderer::ops() { return ptx::table_ops() | set_of({Op::Const}); }

std::uint32_t PtxRenderer::dtypes() {
  std::uint32_t dtypes = 0;
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    if (!is_half(static_cast<DType>(t))) dtypes |= 1u << t;
  }
  return dtypes;
}

std::uint32_t PtxRenderer::storage() {
  return dtypes() | 1u << static_cast<int>(DType::Float16) |
         1u << static_cast<int>(DType::BFloat16);
}

Caps ptx_caps() {
  Caps caps;
  caps.ops = PtxRenderer::ops();
  caps.dtypes = PtxRenderer::dtypes();
  caps.storage = PtxRenderer::storage();
  caps.has_groups = true;
  caps.max_items = 1024;
  caps.max_group_axis[0] = caps.max_group_axis[1] = 1024;
  caps.max_group_axis[2] = 64;
  caps.max_groups_axis[0] = INT32_MAX;
  caps.max_groups_axis[1] = caps.max_groups_axis[2] = 65535;
  caps.group_memory = 48 << 10;
  caps.threads = 108;  // multiprocessors of an A100
  caps.warp_items = 32;
  caps.shuffles_items = caps.ballots_items = true;
  caps.loads_matrices = true;
  caps.item_registers = 255;
  caps.unit_registers = 1 << 16;
  caps.vector_bytes = 16;
  caps.alignment = 256;
  caps.copies_async = true;
  caps.matrix_units = units_of_extension("mma.sync");
  return caps;
}

}  // namespace croze
