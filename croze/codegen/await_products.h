// await_products.h -- units that go on behind the items' backs are waited for.
#pragma once

#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The instructions, in which nobody looks at sums that a unit is at work on, and nobody fills what
// it reads.
std::vector<UOp> with_products_awaited(std::vector<UOp> instructions);

}  // namespace croze
