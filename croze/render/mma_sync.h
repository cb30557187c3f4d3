// mma_sync.h -- the instructions of NVIDIA's processors for matrix units of a warp, as they stand
// in PTX; CUDA C has them by its assembler.
//
// A thread holds factors in registers of 32 bits, side by side, or one of Float64 in each, and sums
// in one each.  The record of the unit has the terms of one instruction in the lower bits of k.
#pragma once

#include <string>
#include <string_view>

#include "croze/graph/matrix_unit.h"

namespace croze {

// "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", of one instruction of the unit.
std::string mma_sync_name(const MatrixUnit& unit);

// "bf16": what a unit multiplies is called in the names of instructions.
std::string_view factor_type_in_ptx(const MatrixUnit& unit, DType factor);

// Registers of one instruction.
struct MmaSyncRegisters {
  std::int64_t a, b, sums;
};
MmaSyncRegisters mma_sync_registers(const MatrixUnit& unit);

// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", of so many squares: 1, 2 or 4.
std::string ldmatrix_name(std::int64_t squares, bool transposed);

}  // namespace croze
