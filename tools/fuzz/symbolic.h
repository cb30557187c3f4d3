// symbolic.h -- the algebra of integers, compared with evaluation and with Z3.
#pragma once

#include <optional>
#include <string>

#include "fuzz/campaign.h"
#include "fuzz/expression.h"

namespace croze::fuzz {

// What is wrong with what the compiler makes of the expression, or nothing.
//
// At each point (points_of): the constructors and simplify_rules() keep the values of the root and
// the gate, simplify_gate() that of the gate, simplify_under() that of the root where the gate
// holds; every node's bounds and divisibility hold, and so does bounds_under() behind the gate; and
// Invalid outside of the gate ends as the gate of a place.
std::string check_expression(const Expression& expression, std::uint64_t seed);

// Whether the root as written and its simplification are one function, for all values of the
// leaves.  Adds to the counts "proven" or "unknown".
std::string prove_expression(const Expression& expression, Counts& counts);

// The case of a seed.  Of every `proof_interval` cases, one is given to Z3 as well; 0: none.
std::optional<Mismatch> symbolic_case(std::uint64_t seed, std::uint64_t proof_interval,
                                      Counts& counts);

}  // namespace croze::fuzz
