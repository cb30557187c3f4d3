// program.h -- a linear program: what codegen hands to a renderer, one kernel as an ordered list of
// instructions.
//
// Each instruction is a node; its sources come earlier in the list.  In order:
//
// Const, Param, Variable, Special, Local, Register: leaves and declarations, before first use.
//
// Range of kind Lane: the vector 0, 1, .., size-1.  A node whose ranges() hold a Lane range is a
//   vector of that many lanes, every other node is a scalar; a scalar operand of a vector op is
//   broadcast.  A node varies over at most one Lane range.
//
// Loop(range) .. EndLoop(range): the Range, bound to nothing else, is the counter; it stands in the
//   list right after its Loop.  It turns as often as its source says, an integer known before the
//   Loop, or else as often as its size; perhaps never.  One that turns at most once is a branch:
//   renderers write it as such, as compilers ask of a loop what it leaves behind after any number
//   of turns.
//
// Elementwise ops: only those in Caps::ops, on dtypes in Caps::dtypes.  Cast (saturating float to
//   integer, NaN to 0) also from and to the dtypes in Caps::storage, which else are only loaded and
//   stored.  No Index dtype, no Invalid.  CDiv and CMod never divide by zero or overflow, and shift
//   amounts are within the width: the decompositions have put guards around them.
//
// Load(Index(buffer, i)), Load(Index(buffer, i, gate)): buffer is a Param or a Local, perhaps under
//   After.  A scalar i loads one element; an i that varies over a Lane range with stride 1 loads a
//   contiguous vector, otherwise each lane its own element.  Where the gate is false the memory is
//   not touched and the value is zero.
//
//   A Param of ProgramInfo::images is only loaded, and by rows of 4, 8 or 16 lanes alone that begin
//   at a multiple of 4 and have one gate or none; renderers without images take it as any other.
//
// Store(Index(buffer, i), value), Store(Index(buffer, i, gate), value): the same for writing.
//
// Store(place, Index(buffer, i)), of a place in group memory and of a Param that is not stored to,
//   each perhaps with a gate: what is at the one place is on its way to the other one, and is there
//   once a Barrier has awaited it; zero where the gate of the source is false.  A row of lanes, or
//   an element, of 4, 8 or 16 bytes. On devices that have it (Caps::copies_async).
//
// CopyBox(place, param, coordinate ..): such a store of a place, of a whole box (graph/op.h), that
//   one item of the group begins; the coordinates and the gate of the place are the same for all.
//   On devices that have it (Caps::copies_boxes).
//
// Load(register), Store(register, value): a mutable variable; a vector if the Register has a Lane
//   range among its sources.  The register may stand under After.
//
// Prefetch(Index(buffer, i)), cache: the contiguous vector there is read soon, or perhaps not: i
// may
//   lie outside of the buffer.  It is to come into the caches from that number on, 1 being the
//   nearest.  On devices that have the op.
//
// Exchange(x, y): vectors of the same lanes, a power of two; on devices that have the op.
//
// Lookup(table, indices): vectors of the same lanes, a power of two; on devices that have the op.
//
// Reduce(value, lane), arg the op: combines the lanes of a vector to a scalar.
//
// Barrier: the work-items of a group meet.  With an arg n they first await what they copy: what has
//   been begun since the last such barrier is a batch, and all but the last n have come.
//
// LoadMatrix(place, lane), Contract(sums, a, b, lanes ..): by matrix units (graph/matrix_unit.h),
// of
//   whose threads an item is one.  Some units read their factors, LoadMatrix of n items, by
//   themselves, and go on with that, and with the sums, behind the items' backs.
//
// AwaitProducts(sums ..), arg n: all of that has been done but for the last n Contracts.
//
// Shuffle(value), arg a power of two b: the value that the work-item has whose number differs in
// the
//   bit b, where the first axis of a group counts fastest; of each lane of a vector. On devices
//   that have the op, whose warps are whole.
//
// After(x, ...) is x; it only tells apart reads before and after a write.  After, Index and the
// ranges of a Store or CopyBox are not instructions and do not stand in the list.  An Unroll range
// never occurs: unrolling has made copies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/device/device.h"
#include "croze/graph/graph.h"
#include "croze/graph/uop.h"

namespace croze {

struct LinearProgram {
  std::shared_ptr<Graph> graph;  // owns the nodes
  std::vector<UOp> instructions;
  std::vector<UOp> lanes;  // the Lane ranges that occur
  ProgramInfo info;
};

// Whether the instruction does nothing where it stands: a constant or a declaration.
bool is_declaration(UOp u);

// Whether the node is the vector 0, 1, ..
inline bool is_lane(UOp u) { return u.is(Op::Range) && u.loop_kind() == LoopKind::Lane; }

// Whether the loop is a jump over what is rarely wanted: of an open range that is 0 or 1.
bool turns_at_most_once(UOp range);

// The element of a place, looking through After: Index -> its buffer.
UOp buffer_of(UOp place_or_buffer);

// Whether the store begins a copy.
inline bool is_copy(UOp store) { return store.src(1).is(Op::Index); }
// How a CopyBox copies.
BoxedBuffer box_of(UOp copy);
std::int64_t bytes_of(const BoxedBuffer& box);
// The ways in which the instructions do, each once.
std::vector<BoxedBuffer> boxed_buffers(std::span<const UOp> instructions);

// Whether the barrier awaits copies.
inline bool awaits_copies(UOp barrier) { return barrier.arg().kind == Arg::Kind::Int; }

// Whether it stands for a factor that a unit reads by itself.
inline bool is_read_by_unit(UOp load_matrix) {
  return load_matrix.is(Op::LoadMatrix) && load_matrix.arg().value > 1;
}

// Whether the buffer is memory that the items of a group share.
bool is_group_tile(UOp buffer);

// The instructions, one a line, indented by loops, for people: "%9 = load float32 %5[%8]".
std::string print_program(const LinearProgram& program);

}  // namespace croze
