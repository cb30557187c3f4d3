// words.h -- integers of 64 bits on a device that has none, as pairs of 32-bit words.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

struct RegisterScope;

// Whether the device needs split_words.
bool needs_words(const Caps& caps);

// What decompose() may use if split_words comes after it: Int64 and UInt64 as if there were any,
// but only the ops on them that split_words knows.  `caps` themselves where the device has them.
Caps with_wide_integers(Caps caps);

// `kernel`, decomposed for with_wide_integers(caps), with every Int64 and UInt64 in two UInt32: low
// word first in memory, where a buffer of n elements has 2n words; two Registers for one, for which
// `registers` gets another entry.  Results are those of eval.h, conversions included.  The kernel
// itself where the device has Int64 and UInt64.
//
// Throws Error for what two words cannot be: the bits of a Float64, and a product over the lanes of
// a vector (combines_lanes).
UOp split_words(UOp kernel, std::vector<RegisterScope>& registers, const Caps& caps);

// How many other ops on pairs of words have the length of an elementwise op as split_words writes
// it: one, but for a long division.
std::int64_t length_in_words(UOp u);

// Whether the lanes of a vector can be combined to a scalar by `op`.
bool combines_lanes(Op op, DType t, const Caps& caps);

}  // namespace croze
