// simplify.h -- a kernel in its simplest form.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// Applies the rules of the graph and, what no rule can say, simplifies each index under the gate of
// its access, and each condition of several terms under its other terms.  Afterwards gates stand on
// loads and stores and index arithmetic is canonical.
[[nodiscard]] UOp simplify_kernel(UOp sink);

}  // namespace croze
