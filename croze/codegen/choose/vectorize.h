// vectorize.h -- lanes for kernels that are bound by memory: maps and plain reductions.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

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
