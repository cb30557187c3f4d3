// rare_work.h -- work that a choice seldom wants is jumped over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/lower/expand.h"
#include "croze/graph/uop.h"

namespace croze {

// Of Where(condition, a, b) both a and b are computed, since the lanes of a vector cannot go
// different ways.  Where all that is computed for one of them alone costs more than a jump that was
// foreseen wrongly, it is computed only if some lane chooses it:
//
//     start  = Store(register, b)
//     update = Store(register, Where(condition, a, Load(After(register, start))), loop)
//     result = Load(After(register, update))
//
// over a loop that turns once where any lane has the condition, and else not at all.  What `a` is
// made of and is not computed for it alone stands under After(value, loop), which keeps the rest in
// the loop.  Choices by one condition share a loop where they can (rare_sides.h).
//
// `sink` is a kernel in which nothing is left to be lowered; `loops` are the ids of its output
// loops.
[[nodiscard]] UOp jump_over_rare_work(UOp sink, std::span<const std::int64_t> loops,
                                      std::vector<RegisterScope>& registers);

}  // namespace croze
