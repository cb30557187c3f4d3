// launch_condition.h -- kernels that are only wanted for some of the values that they are launched
// with.
#pragma once

#include <span>

#include "croze/graph/uop.h"

namespace croze {

// Under which condition on Variables alone, which the gates of all stores have in common, the
// kernel stores anything; null: whatever they are.
[[nodiscard]] UOp launch_condition(UOp kernel);

// The kernel with stores that do not ask for it.
[[nodiscard]] UOp without_launch_condition(UOp kernel);

// An edited kernel whose outermost loops, the first of `loops` and those of other stores, turn not
// at all where the condition does not hold.
[[nodiscard]] UOp turning_where(UOp kernel, UOp condition, std::span<const UOp> loops);

}  // namespace croze
