// decompose.h -- ops and dtypes that a device lacks, written with those it has.
//
// Runs once per kernel, after index arithmetic has become Int32 or Int64 (nodes of dtype Index are
// left alone).  What comes out varies over the same ranges as what went in, and is made of
// elementwise ops and Where only: no branches, no tables in memory, so a vector stays a vector.
//
// A device must have these ops, from which the others are built: Cast, Bitcast, Neg, Not, Add, Mul,
// Div, CDiv, CMod, Lt, Le, Eq, Ne, And, Or, Xor, Shl, Shr, Where; and the dtypes Float32, Int32,
// UInt32 where floats are decomposed, Int64 and UInt64 for sines and Threefry, with gradual
// underflow, or else (Caps::keeps_subnormals) results below 2^-100 say nothing.
#pragma once

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// `kernel` (a Sink of Stores, or any expression) rewritten so that every elementwise op is in
// caps.ops and works on caps.dtypes, and loads and stores move only caps.storage:
//   - floor division, division by constants, shifts by any amount, Threefry: integer arithmetic
//     with the results that eval.h documents; the divisor of a CDiv or CMod is never 0, and never
//     -1 where that overflows;
//   - Exp, Exp2, Log, Log2, Sin, Cos, Pow: at most 1 ulp from the true value in Float32 and Float64
//     for all arguments, special values as in C99; Sqrt: 1/2 ulp.  (Where MulAdd is lacking it is
//     done with two roundings, which costs another ulp.)
//   - float types without arithmetic: each op is done in Float32 and rounded to the type, as eval.h
//     does it; in memory they are the integers of their width unless the device can load them.
//
// 64-bit integers are the affair of words.h.
//
// Throws Error, naming device and dtype, for a dtype that can not be replaced.
[[nodiscard]] UOp decompose(UOp kernel, const Caps& caps);

}  // namespace croze
