// transform.h -- making edits.
//
// Each kind of edit is a function that takes ranges and gives back the new ones, which is what a
// chooser wants; apply() does the same from data.  All of them note what they did in k.applied, so
// that apply_all(), given that list and the kernel as it was, makes the same kernel.
//
// An edit that is not legal (legality.h) is a mistake of who asks for it: InternalError.  Where it
// would change nothing (a split by 1, a size that is a multiple already), nothing is noted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Makes the edit.  Throws InternalError if it is not legal.
void apply(KernelState& k, const Edit& edit);

// Makes the edits one after the other, for edits that come from outside.  Throws Error that names
// the first one that is not legal, and why.
void apply_all(KernelState& k, std::span<const Edit> edits);
// The same; false where one is not legal, and then those before it have been made.
bool try_apply_all(KernelState& k, std::span<const Edit> edits);

struct SplitRange {
  UOp outer, inner;
};

// range -> outer * inner_size + inner, both of the kind of the range.  `inner_size` divides the
// trip count, of an open range whatever its Variables are (pad() sees to that); then the outer one
// is open.  A split by 1 or by the whole size gives a constant 0 for the part of size 1.
SplitRange split(KernelState& k, UOp range, std::int64_t inner_size);

// The same of a loop that is no multiple of `inner_size`: range -> min(outer * inner_size, size -
// inner_size) + inner.  The last inner loop goes over some iterations of the one before it again
// and stores what was stored (Halide's "shift inwards"): no iteration is masked.
SplitRange split_overlapping(KernelState& k, UOp range, std::int64_t inner_size);

// Two ranges to one of the product of their trip counts: outer -> m / size, inner -> m % size, and
// what is computed of outer * size + inner is computed of m.
UOp merge(KernelState& k, UOp outer, UOp inner);

// The range that they would become.
UOp merged_range(const KernelState& k, UOp outer, UOp inner);
// `use`, which varies over the two, computed of `merged` if it follows from their place together,
// as (outer * size + inner) / 64 does; null if not.
UOp in_merged(UOp use, UOp outer, UOp inner, UOp merged);

// Index expressions where they leave index arithmetic: addresses, comparisons, casts to other
// types.
std::vector<UOp> index_uses(UOp sink);

// Makes the trip count of the range a multiple of `multiple`; the added iterations load and store
// nothing, and contribute the identity to a reduction.
UOp pad(KernelState& k, UOp range, std::int64_t multiple);

// The same range run another way.  A Serial range stays what it is; a range around the filling of a
// staged tile takes no kind that would give its values tiles of their own (see stage()).
UOp bind(KernelState& k, UOp range, LoopKind kind);

// The same where it is legal.  Null, and nothing done, where it is not.
UOp try_bind(KernelState& k, UOp range, LoopKind kind);

// Puts the output loops in this order: a permutation of k.loops that leaves the Serial ones in the
// order in which they stand.
void reorder(KernelState& k, std::span<const UOp> order);

// Reduce(op, x, .. r ..) with r = outer * inner_size + inner becomes Reduce(op, Reduce(op, x,
// .. outer ..), inner): a partial result per value of inner, combined at the end.
SplitRange split_reduction(KernelState& k, UOp range, std::int64_t inner_size);

// The reductions over the loops `dropped` run in the loops `kept` of another one.  Both lists are
// what a reduction closes, of equal sizes, and may have loops in common.
void share(KernelState& k, std::span<const UOp> kept, std::span<const UOp> dropped);

// The reductions over the other loops need what those over the first come to, but can be moved when
// that changes (rules/transport.h): all go over their terms in one pass, block by block.  `block`
// divides the size of the loops.  Returns the loop over the blocks.
UOp one_pass(KernelState& k, std::span<const UOp> loops, std::int64_t block);

// The expressions that the loops `first`, of a reduction, and `second` compute alike are computed
// in a loop of their own, by vectors of `lanes`, into tiles that both load from (keep.h).
void keep(KernelState& k, UOp first, UOp second, std::int64_t lanes);

// What is the same for all lanes and varies over each of the loops, which a reduction closes, is
// computed in a loop of its own around them, by vectors of `lanes`, into tiles that it is loaded
// from (tabulate.h).  `lanes` divides how often the loops turn together; they are named outermost
// first.
void tabulate(KernelState& k, std::span<const UOp> loops, std::int64_t lanes);

// What varies over the lanes, one of the loops, and is the same for all rows, is computed in loops
// of its own into tiles (panel.h), which are laid out over those of the loops that it varies over,
// the last one innermost.  The tile is filled as one of stage() is.
void panel(KernelState& k, std::span<const UOp> loops);

struct TurnLoops {
  std::vector<UOp> over;  // for each loop of the tile
  UOp reduced;
};

// The reduction over `range` goes in turns of `turn` iterations, which divide it, over sums that
// wait in a tile: one for each iteration of the output loops `over`, in whose order the loops of a
// turn run (accumulate.h).  Loops that the reduction varies over and that are not in `over` stand
// around the turns.  Returns the loops of a turn.
TurnLoops accumulate(KernelState& k, UOp range, std::span<const UOp> over, std::int64_t turn);

// The same where it is legal.  Nothing, and nothing done, where it is not.
std::optional<TurnLoops> try_accumulate(KernelState& k, UOp range, std::span<const UOp> over,
                                        std::int64_t turn);

// The products that a reduction adds up are added up by the matrix unit, number `unit` of the
// device's from 1, for the vector of `lanes`: `depth`, a loop of the reduction, is split by the
// unit's depth, or loops, outermost first, make that up.  Returns the innermost one, the terms that
// an instruction takes side by side, which lie so in a tile that has it innermost.
UOp contract(KernelState& k, UOp lanes, std::span<const UOp> depth, std::int64_t unit);

// The same by a unit whose operands the threads of a wave hold together: `rows` and `columns` are
// output loops of its sizes, which become the loop over those threads, which is returned, and
// lanes.
UOp contract(KernelState& k, UOp rows, UOp columns, UOp depth, std::int64_t unit);

// Replaces `load` by a load from a tile that holds every element it reads while the loops not in
// `inner` stand still.  `inner` is in loop order, outermost first: the tile is laid out in that
// order, so that what the innermost loop reads next lies next.  The tile is filled where the
// outermost loops it depends on have got their values (linearize.cpp); order the loops so that this
// is outside the loops that are to reuse it.
//
// Space::Thread: filled by loops, with vectors of `lanes` where memory is contiguous.
// Space::Group: filled by all items of the group together.
//
// Loops that the load varies over and that are not in `inner` stand around the filling of the tile:
// none of them may be lanes or unrolled, nor, for a tile of a group, items.
//
// One idea for packing panels on a CPU and shared memory on a GPU.  Gates are evaluated while
// filling: the load from the tile has none.
void stage(KernelState& k, UOp load, std::span<const UOp> inner, Space space,
           std::int64_t lanes = 1);

// The same where it is legal.  False, and nothing done, where it is not.
bool try_stage(KernelState& k, UOp load, std::span<const UOp> inner, Space space,
               std::int64_t lanes = 1);

// The tiles in group memory that are filled in each turn of a reduction's loop get slots, one of
// which is filled while others are read: what a turn reads is fetched slots - 1 turns before, and
// for the first turns before the loop (fill_ahead.cpp).
void fill_ahead(KernelState& k, UOp turn, std::int64_t slots);

// The same where it is legal.  False, and nothing done, where it is not.
bool try_fill_ahead(KernelState& k, UOp turn, std::int64_t slots);

// Index arithmetic in canonical form, gates on loads and stores (simplify_kernel).
void simplify(KernelState& k);

}  // namespace croze
