// accumulate.h -- sums that wait in a tile between turns; accumulate() itself is in transform.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "croze/graph/uop.h"

namespace croze {

// Why sums of `reduce` cannot wait in a tile that extends over the output loops `over` and has
// `room` bytes; empty if they can.
std::string refuse_accumulation(UOp reduce, std::span<const UOp> over, std::int64_t room);

}  // namespace croze
