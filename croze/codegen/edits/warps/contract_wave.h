// contract_wave.h -- sums of products for a matrix unit whose operands the threads of a wave hold
// together; the edit is contract() in transform.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/edits/warps/group_factor.h"

namespace croze {

// Why unit number `unit` of the device cannot make the tile of the loops `rows` x `columns`, over
// terms of the loop `depth`; empty if it can.
std::string refuse_wave(const KernelState& k, UOp rows, UOp columns, UOp depth, std::int64_t unit);

// The factors of that tile, if the unit reads them from group memory: none, if not.
std::vector<GroupFactor> group_factors_of_wave(const KernelState& k, UOp rows, UOp columns,
                                               UOp depth, std::int64_t unit);

}  // namespace croze
