// op.h -- the closed set of operations, and the one table that describes them.
//
// One vocabulary serves from the user's tensor to machine code.  What is legal at which stage is
// said by the specs (spec.h); what each op means on numbers is said by eval.h; here stand the name,
// the number of sources and the algebraic traits.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace croze {

// clang-format off
enum class Op : std::uint8_t {
  // leaves
  Const,        // arg: the value's bits (see Arg::constant)
  Buffer,       // arg: {unique id, elements, device}; flat storage, shape (elements)
  Param,        // arg: {slot, elements}; the kernel's view of a buffer, shape (elements); [elements that it
                // really has, where that depends on Variables]
  Variable,     // arg: {slot, lo, hi}; a bounded integer given at launch; tensor stage: any number
  Invalid,      // no value here: absorbs arithmetic, ends as a gate on a load or a store
  Range,        // arg: {id, size, LoopKind}; a loop variable, 0 <= value < size; open if it has a source:
                // [how often it turns, at most size: an expression of Variables]
  Iota,         // arg: size; tensor stage: the vector 0, 1, ..., size-1

  // movement (tensor stage): views, they become index arithmetic
  Reshape,      // arg: new shape
  Expand,       // arg: new shape; axes of size 1 repeat
  Permute,      // arg: order; axis k of the result is axis order[k] of the source
  Flip,         // arg: one 0/1 per axis
  Pad,          // arg: {before, after} per axis; filled with zero
  Shrink,       // arg: {begin, end} per axis
  Window,       // arg: {axis, size, stride, dilation}; appends axis k: x[.. o*stride + k*dilation ..]
  Unwindow,     // arg: {axis, length, stride, dilation}; (.. o .. k) -> (.. p ..  k): the element for
                // p = o*stride + k*dilation, zero where there is none

  // structure (tensor stage)
  Gather,       // (x, index per axis of x): x[i0, i1, ..]; zero where an index is out of range
  Scatter,      // (base, value, index per axis of base); arg: 0 overwrites, Op::Add (Mul, Max, Min) accumulates
  Contiguous,   // materialise here
  ContiguousBackward,  // materialise the gradient here
  Detach,       // stop the gradient here
  WithGradient, // (value, input ...): the value; arg {call, k}: its gradient goes to the inputs as the tensor
                // layer's table of calls says, of which it is result k; not in what is scheduled
  Copy,         // arg: device; the same values on another device

  // elementwise, unary
  Cast, Bitcast,
  Neg, Not, Exp, Exp2, Log, Log2, Sin, Cos, Sqrt, Reciprocal, Trunc,
  // elementwise, binary
  Add, Mul, Div, IDiv, Mod, CDiv, CMod, Max, Min, Pow,
  Lt, Le, Eq, Ne, And, Or, Xor, Shl, Shr, Threefry,
  // elementwise, ternary
  Where, MulAdd,

  // reduction: (value, range ...) in kernels; arg {op, axis ...} on tensors, reduced axes keep size 1
  Reduce,

  // memory and order
  Index,        // (buffer, flat index): a place; (buffer, index, gate) in programs
  Load,         // (place): the element there; zero where the gate is false
  Store,        // (place, value, range ...): closes the ranges, which run over the places written
  After,        // (value, effect ...): the value, once those stores have happened
  Sink,         // (effect ...): the root of a kernel or of a schedule

  // programs (after lowering)
  Local,        // arg: {id, elements, Space}; scratch memory of a thread or of a group; of a tile with slots,
                // which turns of a loop fill ahead, {id, elements of all slots, Space, slots}
  Register,     // arg: id; (range ...): a mutable scalar or vector, one per value of its ranges
  Loop, EndLoop,      // Loop (range); EndLoop (range)
  Barrier,      // arg: none; or n: copies of items to their group are awaited, but for the last n batches
  Special,      // arg: {axis, size, LoopKind}; index of this thread or group in the launch

  // kernels under edit
  TupleReduce,  // (value ..., range ...); several reductions in one pass, of which some need what others
                // come to (tuple.h); worth the first of its results
  Part,         // (tuple reduction); arg k: its result k, k > 0

  // programs again
  Exchange,     // (x, y): vectors; arg b > 0, a power of two: lane l is that of x where l has not the bit b,
                // and lane l - b of y where it has; -b: lane l of y where it has, else lane l + b of x
  Prefetch,     // (place), cache: a hint that the vector there is read soon
  Lookup,       // (table, indices): vectors of n lanes, a power of two: lane l is lane indices[l] mod n of
                // the table; indices are unsigned, as wide as what is looked up
  Contract,     // (sums, a, b, lane of the sums, lane of a, lane of b); arg: name of a MatrixUnit
                // (matrix_unit.h); sums + the products of a and b, added up: closes the lanes of both
  Shuffle,      // (value): of 4 or 8 bytes; arg b, a power of two: what the item has whose number in the
                // warp differs in the bit b. All items of the warp do it together
  LoadMatrix,   // (place, lane): squares of 8 rows of 8 elements of 2 bytes, one for each two lanes. Of the
                // items of a warp, which do it together, item i has the place of row i mod 8 of square i / 8, and
                // gets of each square elements 2 (i mod 4) and 2 (i mod 4) + 1 of row i / 4; arg 1: of column i / 4;
                // arg n > 1, of a unit of n items that reads for itself: (place, lane) is the same for all of
                // them, and item i mod n has the i-th of n parts of what follows the place
  AwaitProducts,  // (sums ...); arg n: what units that read for themselves are at work on is awaited, but for
                // the last n Contracts; the sums, Registers or Contracts, may be looked at from then on
  Ballot,       // (condition); arg: items of a warp, a power of two: a number of 4 bytes, or of 8 for more than 32
                // items, whose bit i says whether it holds in item i of the warp. All of them do it together
  CopyBox,      // (place in a tile, parameter, coordinate ...); arg {size, stride, box} of each axis, in elements,
                // the innermost first: what stands in the box from these coordinates on, zeros beyond the
                // sizes, is on its way to the tile, to rows of 128 bytes whose pieces of 16 are flipped by the
                // row; it is there once a Barrier has awaited it. One item of the group does it for all
  Scale,        // (x, n): x * 2^floor(n), rounded once, of floats of one dtype; elementwise
};
// clang-format on
inline constexpr int num_ops = static_cast<int>(Op::Scale) + 1;

// Some of the ops.
using OpSet = std::bitset<num_ops>;
OpSet set_of(std::initializer_list<Op> ops);
inline bool contains(const OpSet& set, Op op) { return set[static_cast<std::size_t>(op)]; }

// How a range is run.  The scheduler makes the first three; the edits of codegen bind them to the
// others.
enum class LoopKind : std::uint8_t {
  Parallel,  // iterations are independent: may be reordered, split, bound to anything
  Reduce,    // closed by a Reduce: may be reordered and split as the reduction allows
  Serial,    // iterations must run in order (ordered accumulation into memory)
  Thread,    // CPU: one task of the thread pool per value
  Group,     // GPU: index of the work-group along a launch axis
  Item,      // GPU: index of the work-item in its group along a launch axis
  Lane,      // a lane of a vector register
  Unroll,    // every value is its own copy of the code
  Loop,      // a plain loop
  Depth,     // terms of a reduction that an instruction multiplies and adds up at once
};

std::string_view name_of(LoopKind kind);

// Where a Local lives.
enum class Space : std::uint8_t {
  Thread,  // private scratch of one CPU thread or work-item
  Group,   // shared by a work-group
};

// Algebraic and structural traits, as bits.
enum OpTrait : std::uint16_t {
  trait_none = 0,
  trait_elementwise = 1 << 0,
  trait_commutative = 1 << 1,
  trait_associative = 1 << 2,  // exactly so for integers; up to rounding for floats
  trait_comparison = 1 << 3,   // result is bool
  trait_movement = 1 << 4,
  trait_integer_only = 1 << 5,
  trait_float_only = 1 << 6,
  trait_effect = 1 << 7,           // has no value
  trait_transcendental = 1 << 8,   // takes ten instructions and more, or a call
  trait_optional_source = 1 << 9,  // may have one source more than its arity says
};

struct OpInfo {
  Op op;
  std::string_view name;  // in the text form
  std::int8_t arity;      // -1: any number
  std::uint16_t traits;
};

const OpInfo& info(Op op);

// The sign that stands between two operands where expressions are printed; empty if there is none.
std::string_view infix(Op op);

inline bool has_trait(Op op, OpTrait trait) { return (info(op).traits & trait) != 0; }
// Whether a node of the op may have so many sources.
inline bool takes_sources(Op op, std::int64_t count) {
  const int arity = info(op).arity;
  return arity < 0 || count == arity ||
         (count == arity + 1 && has_trait(op, trait_optional_source));
}
inline bool is_elementwise(Op op) { return has_trait(op, trait_elementwise); }
inline bool is_movement(Op op) { return has_trait(op, trait_movement); }
inline bool is_comparison(Op op) { return has_trait(op, trait_comparison); }
inline bool is_commutative(Op op) { return has_trait(op, trait_commutative); }

}  // namespace croze
