// nest_facts.h -- what joining steps asks of their loop nests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "croze/graph/uop.h"

namespace croze {

// Visits of elements for each element in memory from which on a nest is a contraction.
constexpr std::int64_t contraction_reuse = 4;
// Ranges of a nest at most, far below what a RangeSet holds: edits make several of one.
constexpr std::int64_t most_nest_ranges = 48;

struct NestFacts {
  bool in_order = false;     // some loop must run in order
  bool contraction = false;  // it uses what it loads many times: its speed is in its tiles
  std::int64_t work = 0;     // element visits
};
NestFacts facts_of(UOp nest);

// The ranges by which the terms of a flat index are told apart: coefficient -> range.  None if it
// is anything but a sum of ranges.
std::optional<std::map<std::int64_t, UOp>> strides_of(UOp index);

}  // namespace croze
