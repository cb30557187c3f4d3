// cuda_mma.h -- matrix units of a warp in CUDA C, by the assembler.
#pragma once

#include "croze/render/c_family/dialect.h"

namespace croze::c_family {

// mma_sync_bf16(sums, a, b): adds the products to the sums.  All threads of a warp call it.
Helper mma_helper(const Dialect& dialect, const MatrixUnit& unit);

}  // namespace croze::c_family
