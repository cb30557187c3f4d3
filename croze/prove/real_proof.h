// real_proof.h -- rules of fast maths, proven of real numbers.
#pragma once

#include "croze/prove/rule_proof.h"

namespace croze {

// Whether both sides of an algebraic rule on floats are equal for all real numbers, where no
// divisor of the pattern is zero.  No prelude is needed.
RuleProof prove_on_reals(const Rule& rule, Solver& solver);

}  // namespace croze
