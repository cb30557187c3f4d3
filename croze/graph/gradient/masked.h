// masked.h -- internal to gradient/: gradients that a mask of positions holds back.
#pragma once

#include "croze/graph/gradient/gradient_rules.h"

namespace croze {

// What flows back through a product from behind a mask of positions, such as that of causal
// attention, goes on behind it: where(mask, g, 0) flows into x * y as
//
//     where(mask, g * y, 0), where(mask, g * x, 0)
//
// and not as where(mask, g, 0) * y.  So a factor there that is not finite has no part in it, and
// the sums below need not go there.  Empty if u is no product, or nothing holds g back.
Partials through_masked_product(UOp u, UOp g);

}  // namespace croze
