// gradient.h -- reverse-mode differentiation as a transformation of the tensor graph.
#pragma once

#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The gradient of `loss` by each target: nodes of the targets' shapes and dtypes, built in the
// graph of the loss; zeros for a target that the loss does not depend on.  The loss is of one
// element and, like the targets, of a float dtype.  What comes back are ordinary nodes, which can
// be differentiated again.  Iterative: depth does not matter.
[[nodiscard]] std::vector<UOp> gradient(UOp loss, std::span<const UOp> targets);

// The same for several roots at once: the sum over them of the vector-Jacobian products with
// `weights`, what flows into each root, of its shape and dtype.  Nothing flows through a
// WithGradient: whoever knows its gradient differentiates by it, and goes on from its inputs.
[[nodiscard]] std::vector<UOp> gradient(std::span<const UOp> roots, std::span<const UOp> weights,
                                        std::span<const UOp> targets);

}  // namespace croze
