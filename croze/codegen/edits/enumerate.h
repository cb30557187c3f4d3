// enumerate.h -- the edits that a search or a fuzzer can choose from.
#pragma once

#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Legal edits of the kernel as it stands, always in the same order.  Finite, though not all that
// are legal: inner loops and partial results of up to 4096; overlapping ones by the sizes of
// register tiles; multiples of powers of two up to 64; orders that move one loop; tiles over one
// loop or over some of the innermost, filled by one lane or by full vectors.
std::vector<Edit> enumerate_edits(const KernelState& k);

// Those of one kind.
std::vector<Edit> enumerate_edits(const KernelState& k, EditKind kind);

}  // namespace croze
