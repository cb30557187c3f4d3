// idle_barriers.h -- barriers that nothing needs.
#pragma once

#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The instructions without the barriers behind which nobody touches, before the next one, what
// somebody has touched before them in group memory, one of both to write it.
std::vector<UOp> without_idle_barriers(std::vector<UOp> instructions);

}  // namespace croze
