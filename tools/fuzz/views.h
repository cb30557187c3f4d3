// views.h -- chains of movement ops as index arithmetic, compared with moving the elements.
#pragma once

#include <optional>
#include <string>

#include "fuzz/campaign.h"
#include "fuzz/program.h"

namespace croze::fuzz {

// What is wrong with the index arithmetic of a program of movement ops on one buffer, or nothing.
// For the chain as it is and as tensor_rules() leaves it, at every position of the result: the gate
// says whether there is an element, and the index which, before and after simplification.
std::string check_views(const FuzzProgram& program);

// The case of a seed.
std::optional<Mismatch> views_case(std::uint64_t seed, Counts& counts);

}  // namespace croze::fuzz
