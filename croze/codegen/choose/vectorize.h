// vectorize.h -- lanes for kernels that are bound by memory: maps and plain reductions.
#pragma once

#include <cstdint>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// What a reduction reads of each of many rows that lie far apart, by copies of the code: one line
// of each comes half as fast, since the hardware fetches neighbours together and looks a page up
// for each.
inline constexpr std::int64_t bytes_side_by_side = 256;

// Cuts lanes from the output loop, or from the loops of reductions, along which memory is
// contiguous; unrolls small reductions.
void vectorize(KernelState& k);

// The same of the loops of reductions that have no lanes yet, alone.
void vectorize_reductions(KernelState& k);

// Reductions over windows of a few elements: loops would cost more than their work.
bool is_small_reduction(UOp reduce);
// Unrolls them, except those over the ranges of `kept`.
void unroll_small_reductions(KernelState& k, std::span<const UOp> kept = {});

}  // namespace croze
