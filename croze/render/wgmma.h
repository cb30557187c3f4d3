// wgmma.h -- the instructions of NVIDIA's processors for matrix units of four warps, as they stand
// in PTX; CUDA C has them by its assembler.
//
// An instruction finds a factor by a matrix descriptor, a number of 64 bits: where it begins in
// shared memory, divided by 16, and how it lies there.  What the record of the unit has (rows of
// 128 bytes) is one of the layouts that there are.  The instructions of a unit are each for as many
// of its terms, so their descriptors go up by steps.
#pragma once

#include <cstdint>
#include <string>

#include "croze/graph/matrix_unit.h"

namespace croze {

// "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", of one instruction of the unit.
std::string wgmma_name(const MatrixUnit& unit);
// The operands behind the descriptors: that sums are added to, that no factor is negated, and which
// lie by lines: "1, 1, 1, 0, 1".
std::string wgmma_modifiers(const MatrixUnit& unit);

struct WgmmaDescriptor {
  std::uint64_t layout;  // all bits but those of the address
  std::int64_t step;     // to that of the next instruction
};
// Of a factor with these places in the record.
WgmmaDescriptor wgmma_descriptor(const MatrixUnit& unit, std::string_view places);
// The bits of an address that descriptors have, shifted by so many.
inline constexpr std::uint64_t wgmma_address_mask = 0x3ffff;
inline constexpr int wgmma_address_shift = 4;

}  // namespace croze
