// kernel_state.h -- a kernel under edit, and the edits on its loops.
//
// The kernel is the graph itself; an edit replaces ranges in it.  The order of the output loops is
// the only thing kept beside the graph.  Edits check what they need and throw InternalError
// otherwise, so a search may try any of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/uop.h"

namespace croze {

struct KernelState {
  UOp sink;
  std::vector<UOp> loops;            // the ranges closed by the stores, outermost first
  std::int64_t next_range = 0;       // id of the next new range
  std::int64_t next_local = 0;       // id of the next staged tile
  std::vector<std::string> applied;  // the edits so far, for CROZE_DEBUG=3

  explicit KernelState(UOp kernel);
  Graph& graph() const { return sink.graph(); }
};

struct SplitRange {
  UOp outer, inner;
};

// Every occurrence of a range replaced by an expression over other ranges; where the range was
// closed (by a Store, Reduce or Stage) the ranges of the expression are closed instead.
using RangeMap = std::vector<std::pair<UOp, UOp>>;
void replace_ranges(KernelState& k, const RangeMap& map);

// range -> outer * inner_size + inner, both of the kind of the range.  `inner_size` divides its
// size. A split by 1 or by the whole size gives a constant 0 for the part of size 1.
SplitRange split(KernelState& k, UOp range, std::int64_t inner_size);

// Two ranges to one of the product of their sizes: outer -> m / size, inner -> m % size.
UOp merge(KernelState& k, UOp outer, UOp inner);

// Makes the size of the range a multiple of `multiple`; the added iterations load and store
// nothing, and contribute the identity to a reduction.
UOp pad(KernelState& k, UOp range, std::int64_t multiple);

// The same range run another way.  A Serial range stays what it is; a range around the filling of a
// staged tile takes no kind that would give its values tiles of their own (see stage.h).
UOp bind(KernelState& k, UOp range, LoopKind kind);

// Puts the output loops in this order: a permutation of k.loops that leaves the Serial ones in the
// order in which they stand.
void reorder(KernelState& k, std::span<const UOp> order);

// Reduce(op, x, .. r ..) with r = outer * inner_size + inner becomes Reduce(op, Reduce(op, x, ..
// outer
// ..), inner): a partial result per value of inner, combined at the end.
SplitRange split_reduction(KernelState& k, UOp range, std::int64_t inner_size);

// ---- questions about a kernel ----

inline bool is_serial(UOp range) { return range.loop_kind() == LoopKind::Serial; }
inline bool is_parallel(UOp range) { return range.loop_kind() == LoopKind::Parallel; }
std::vector<UOp> reduces(UOp sink);                    // users before the reductions they contain
std::vector<UOp> loads(UOp root);                      // Load nodes, each once
std::int64_t iterations(std::span<const UOp> ranges);  // product of the sizes
std::vector<UOp> closed_ranges(UOp u);                 // ranges that a Store or Reduce closes

// Whether one tile in this memory can serve all values of a loop of this kind around its filling:
// lanes and copies of the code would fill it all at once, and so would items a tile of their group.
bool can_stand_around_tile(LoopKind kind, Space space);

}  // namespace croze
