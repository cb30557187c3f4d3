// mma.h -- matrix units of a warp, and of four, in CUDA C, by the assembler.
#pragma once

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// mma_sync_bf16(sums, a, b): adds the products to the sums.  All threads of a warp call it.
Helper mma_helper(const Dialect& dialect, const MatrixUnit& unit);

// wgmma_bf16_kk_n128(sums, a, b): begins to add products to the sums, of factors in group memory.
// All threads of the four warps call it.
Helper wgmma_helper(const Dialect& dialect, const MatrixUnit& unit);

// load_matrix_4(to, from): Op::LoadMatrix of so many lanes from the memory of a group, with the
// place that the thread has.  All threads of a warp call it.
Helper ldmatrix_helper(const Dialect& dialect, DType t, std::int64_t lanes, bool transposed);

}  // namespace croze::c_family
