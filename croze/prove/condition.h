// condition.h -- the condition of a rule as SMT-LIB text.
#pragma once

#include <array>
#include <string>

#include "croze/graph/rewrite/rule.h"

namespace croze {

// The condition over the values of the nodes that `names` gives for its letters; `text_of` is what
// the solver calls them.  The nodes are of Index, or none of them is: sized integers are widened so
// that nothing wraps.  "true" if there is no condition.
std::string condition_text(const Rule& rule, const std::array<UOp, 26>& names,
                           const std::array<std::string, 26>& text_of);

}  // namespace croze
