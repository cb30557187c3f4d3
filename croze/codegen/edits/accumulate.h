// accumulate.h -- sums that wait in a tile between turns; accumulate() itself is in transform.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Why the reduction over `range` cannot go on in turns over sums in a tile that extends over the
// loops `over` and has `room` bytes; empty if it can.
std::string refuse_accumulation(const KernelState& k, UOp range, std::span<const UOp> over,
                                std::int64_t room);

}  // namespace croze
