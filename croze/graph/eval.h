// eval.h -- the meaning of each elementwise op on constants, computed in the target dtype.
//
// Values travel as the bits a Const carries: integers and bool as themselves (UInt64 as its two's
// complement), floats as the bits of the double that holds the value exactly.  Documented choices:
// x IDiv 0 = 0 and x Mod 0 = x (so x == x/0*0 + x%0); CDiv and CMod likewise; the least integer
// divided by -1 wraps to itself; shifts by 64 bits or more, or by the width of the type or more,
// give 0 (Shr of a negative: -1), negative shift amounts count as unsigned; float to integer casts
// truncate and saturate, NaN gives 0; integer to narrower integer wraps; Max and Min propagate NaN.
#pragma once

#include <cstdint>
#include <span>

#include "croze/graph/dtype.h"
#include "croze/graph/op.h"

namespace croze {

// `operand` is the dtype of the last source (of a Where: of its two values).
std::int64_t eval(Op op, DType result, DType operand, std::span<const std::int64_t> operands);

// `bits` as a value of type `from`, converted to type `to`.
std::int64_t convert(std::int64_t bits, DType from, DType to);

// A number as the bits a constant of type `t` carries, rounded or wrapped to it.
std::int64_t bits_of(double value, DType t);
std::int64_t bits_of(std::int64_t value, DType t);

// The bits of a constant as they stand in memory (size_of(t) bytes, little endian), and back.
void store_bits(std::int64_t bits, DType t, void* memory);
std::int64_t load_bits(const void* memory, DType t);

// The bits of the value a reduction starts from: 0 for Add, 1 for Mul, the least for Max, the
// greatest for Min.
std::int64_t identity_of(Op reduce, DType t);

// Threefry-2x32 with 20 rounds (Salmon et al., SC'11): counter and key are two 32-bit words each,
// low word first.
std::uint64_t threefry2x32(std::uint64_t counter, std::uint64_t key);

}  // namespace croze
