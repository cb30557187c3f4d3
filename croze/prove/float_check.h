// float_check.h -- rules on floats, held to bit-exact agreement with eval.h.
//
// There is no proof for floats here: both sides are evaluated on edge values -- zeros, infinities,
// NaN, denormals, extremes, all values of an 8-bit type -- and on random bits, in every reading
// that has a float in it.  Which NaN comes out does not count, that one does.
#pragma once

#include <cstdint>
#include <string>

#include "croze/graph/rewrite/rule_set.h"

namespace croze {

struct FloatCheck {
  std::string name;
  std::int64_t readings = 0;   // of the rule, with a float in them
  std::int64_t instances = 0;  // rewritten expressions that were compared: of a function rule many
  std::int64_t points = 0;     // values compared
  std::int64_t failed = 0;     // instances that differ somewhere
  std::string detail = {};     // of the first
};

struct FloatOptions {
  std::int64_t points = 2000;       // for each reading of an algebraic rule
  std::int64_t instances = 10'000;  // of a function rule
  std::uint64_t seed = 1;
};

// Compares both sides of all float readings; none if the rule is never about floats.
FloatCheck check_on_floats(const Rule& rule, Numbers numbers, const FloatOptions& options = {});

// Where two scalar expressions of one graph differ, on so many points; empty if nowhere.  Ranges
// and variables keep to their bounds.
std::string difference_on_floats(UOp left, UOp right, std::int64_t points, std::uint64_t seed);

}  // namespace croze
