// word_arithmetic.h -- arithmetic on integers of 64 bits held in two UInt32.
#pragma once

#include "croze/graph/uop.h"

namespace croze::words {

// A 64-bit integer: low + high * 2^32, in two's complement.  Whether it is signed is said where it
// matters.
struct Pair {
  UOp low, high;
};

Pair constant(Graph& graph, std::int64_t value);

Pair negate(Pair a);
Pair add(Pair a, Pair b);
Pair multiply(Pair a, Pair b);
// Truncating quotient and remainder.  The divisor is not zero; the least number by -1 wraps.
struct Quotient {
  Pair quotient, remainder;
};
Quotient divide(Pair a, Pair b, bool is_signed);
// By 0 to 63 places.
Pair shift_left(Pair a, UOp amount);
Pair shift_right(Pair a, UOp amount, bool is_signed);
UOp is_less(Pair a, Pair b, bool is_signed);
UOp is_equal(Pair a, Pair b);
Pair choose(UOp condition, Pair a, Pair b);
// The op on each word: Not, And, Or, Xor.
Pair each(Op op, Pair a, Pair b);

// From and to other types that the device has.  Floats are truncated and saturate, NaN gives 0; to
// floats, rounded once to nearest even.
Pair from(UOp x, bool is_signed);
UOp to(Pair a, DType t, bool is_signed);

// The lanes of a vector combined to a scalar: Add, Max or Min.
Pair reduce(Op op, Pair a, UOp lane, bool is_signed);

}  // namespace croze::words
