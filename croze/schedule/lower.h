// lower.h -- one buffered node as a kernel: loops over its elements, its value pulled down to
// loads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/base/function_ref.h"
#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"
#include "croze/schedule/fuse.h"
#include "croze/schedule/ranges.h"

namespace croze {

// Lowers values at positions.  One object serves one kernel.  A *state* is what a load reads: a
// Buffer, an After (the buffer once its stores have happened) or a buffered node.
//
// The value of a node at a position is built from the values of its sources at positions that
// follow from the op; buffered nodes and buffers end the descent with a load.  Nothing recurses:
// work waits on an explicit stack, results are memoised by (node, position).
class Lowering {
 public:
  // `buffer_of(state)`: the Buffer node whose memory holds that state.
  using BufferOf = UOp (*)(void* context, UOp state);

  // What the device the kernel is for allows.
  struct Limits {
    std::int64_t threads = 1;      // that a kernel should feed with rows, or ...
    std::int64_t columns = 1;      // ... with columns, of which neighbours are reduced together
    std::int64_t max_buffers = 1;  // parameters of a kernel
    // Those of a wave, whose factors are loaded.
    std::span<const MatrixUnit* const> units{};
  };

  Lowering(Graph& graph, FusionPlan& plan, UOp root, Limits limits, BufferOf buffer_of,
           void* context);

  // A loop over `size` positions; constant 0 if there is one only.
  UOp new_range(Extent size, LoopKind kind);
  // The output loops, in whose terms positions are given to value(); call before.
  void set_output(std::span<const UOp> ranges);

  // The value of `u` at a position.  Null if a node had to be buffered first (the plan has grown):
  // start again with a new Lowering.
  UOp value(UOp u, const Position& at);

  // What is loaded, in order: of each state the places, as Index nodes.
  struct Read {
    UOp state;
    std::vector<UOp> places;
  };
  const std::vector<Read>& reads() const { return reads_; }

  // The nodes whose values the kernel computes itself, once or at several positions.
  const FlatSet<const Node*>& computed() const { return computed_; }

 private:
  struct Task {
    UOp node;
    UOp position;  // the index expressions and the gate, as one interned node
    bool operator==(const Task&) const = default;
    std::uint64_t hash() const;
  };

  UOp pack(const Position& p);
  Position unpack(UOp packed) const;
  UOp result_of(UOp u, const Position& p);
  bool try_lower(const Task& task);
  UOp want(UOp u, const Position& p);

  UOp lower_reshape(UOp u, const Position& p);
  UOp lower_elementwise(UOp u, const Position& p);
  UOp lower_reduce(const Task& task, const Position& p);
  UOp lower_gather(UOp u, const Position& p);
  UOp lower_load(UOp state, const Position& p);
  bool must_buffer(UOp u, const Position& p);
  bool is_as_stored(UOp u) const;
  bool is_multiplied_by_units(DType t) const;
  BufferReason why_buffer_reduce(UOp u, const Position& p);
  BufferReason why_not_hoist(UOp u, RangeSet varies);
  bool is_packed(UOp u) const;
  bool is_made_of_bytes(UOp u) const;
  void for_memory_below(UOp u, function_ref<void(UOp)> read) const;
  bool is_contraction(UOp u, bool is_in_order) const;
  std::int64_t visits_of(RangeSet varies) const;
  UOp flat_reduce(Op op, UOp x, SmallVector<UOp, 8> loops);
  RangeSet ranges_of(const Position& p) const;
  RangeSet loops_around(RangeSet open) const;
  std::int64_t iterations(RangeSet ranges) const;
  std::int64_t computations(const Position& p, RangeSet around) const;

  Graph& graph_;
  FusionPlan& plan_;
  UOp root_;
  Limits limits_;
  BufferOf buffer_of_;
  void* context_;
  std::int64_t reduced_;  // steps of the longest reduction, for one element of the root

  std::vector<Task> stack_;
  FlatMap<Task, UOp> memo_;
  FlatMap<Task, UOp> reduce_ranges_;            // the loops of a Reduce at a position
  FlatMap<const Node*, bool> joinable_;         // sums that another sum takes in
  FlatMap<const Node*, UOp> reduce_positions_;  // where each Reduce was wanted first
  struct Placement {
    bool reduction = false;
    RangeSet outer;  // the loops that the reduction's position varies over
  };
  std::vector<std::int64_t> sizes_;    // of the ranges, by id; the greatest
  std::vector<Placement> placements_;  // of the reductions' ranges, by id
  UOp contraction_;                    // the first that the kernel computes
  RangeSet output_ranges_;
  RangeSet serial_ranges_;         // those of them whose iterations stay in order
  RangeSet in_blocks_;             // loops of sums over blocks, and of the blocks
  std::vector<RangeSet> hoisted_;  // output ranges of the hoisted reductions: a chain by inclusion
  std::vector<Read> reads_;
  FlatSet<const Node*> computed_;
  bool grown_ = false;
};

}  // namespace croze
