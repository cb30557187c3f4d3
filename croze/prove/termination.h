// termination.h -- that every algebraic rule makes smaller what it rewrites
// (graph/analysis/measure.h).
#pragma once

#include <string>

#include "croze/graph/rewrite/rule_set.h"

namespace croze {

// Empty if the replacement is smaller than the pattern whatever the captures weigh, in every
// reading of the rule; otherwise the reading, and how much larger it is.  Both sides are
// polynomials in the weights of the captures; their difference has no negative coefficient if each
// capture is written as its least weight plus something.  Function rules are measured when they
// fire instead.
std::string why_not_smaller(const Rule& rule, Numbers numbers);

}  // namespace croze
