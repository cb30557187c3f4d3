// fuse.h -- the cost model of fusion: which nodes get a buffer, and which are computed where used.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/uop.h"
#include "croze/schedule/explain/reason.h"

namespace croze {

// Facts about every node of a tensor graph, by node id, and the set of buffered nodes, which only
// grows.
class FusionPlan {
 public:
  // For a device with these capabilities. Without `fuse` everything that can have a buffer gets
  // one.
  FusionPlan(std::span<const UOp> roots, bool fuse, const Caps& caps);

  bool buffered(UOp u) const { return facts_[u.id()].buffered; }
  void buffer(UOp u, BufferReason reason);
  // Why it has a buffer, if it has one: the first reason that there was.
  BufferReason reason(UOp u) const;

  // Arithmetic needed for one element, down to the next buffers.
  std::int64_t cost(UOp u) const { return facts_[u.id()].cost; }
  bool contains_reduce(UOp u) const { return facts_[u.id()].contains_reduce; }
  // Whether one node of the graph alone uses it.
  bool has_one_consumer(UOp u) const { return facts_[u.id()].consumers == 1; }

  // Whether `u` follows from positions alone, at hardly a cost: that tells codegen which turns of
  // loops are for nothing, as long as it is not stored.
  bool is_mask(UOp u) const;

  // The node to buffer so that the reduction `u` is computed once: `u` itself, or the end of the
  // elementwise chain that alone uses it.  Where that chain ends in what has a buffer already, only
  // the part of it that has no other reduction.
  UOp epilogue(UOp u) const;

  // Whether the sum `u` is used by another sum only, through views: the two are one sum over the
  // loops of both.
  bool feeds_sum(UOp u) const;

  // Whether `u` adds up products of bytes for a term of another sum, through arithmetic: blocks of
  // quantized numbers, each of which has a scale.  Such sums are short and exact.
  bool is_block_of_sum(UOp u) const { return static_cast<bool>(sum_of_blocks(u)); }
  // The sum of a block, if `u` is such another sum; null if it is none.
  UOp block_of(UOp u) const { return facts_[u.id()].block; }

  // Arithmetic in one kernel beyond which compiling it costs more than a pass over memory.
  static constexpr std::int64_t max_size = 400;

  // What is computed again rather than stored when two kernels want it, wherever it would be
  // stored.
  static constexpr std::int64_t cheap_cost = 6;

 private:
  struct Facts {
    bool buffered = false;
    bool contains_reduce = false;
    bool joins_reduce = false;  // all that uses a reduction meets here, as in an activation
    bool many_owners = false;
    std::int32_t consumers = 0;
    std::int32_t cost = 0;
    float size = 0;      // arithmetic of the fused expression, what is shared counted once
    float reads = 0;     // buffers of the fused expression, likewise
    UOp block;           // of a sum over blocks: the sum of one
    UOp consumer;        // the last one seen
    UOp owner;           // the buffered node whose kernel computes this one, if it is the only one
    double made_at = 0;  // bytes touched before it, as the graph is ordered
    double wanted_at = 0;  // before the last kernel that wants it
  };
  // What computing a value again takes, down to the next buffers.
  struct Repeated {
    std::int64_t operations = 0;   // an element
    std::int64_t large_reads = 0;  // buffers of its own size, or half of it
  };

  Facts& facts(UOp u) { return facts_[u.id()]; }
  bool is_boundary(UOp u) const;
  void count_consumers(std::span<const UOp> order);
  bool is_for_store_only(UOp u) const;
  // The sum that `u` makes a term of, if it is a block of one, or null.
  UOp sum_of_blocks(UOp u) const;
  void measure_one(UOp u);
  bool buffer_small_operand(UOp u);
  void buffer_if_large(UOp u);
  void measure(std::span<const UOp> order);
  void assign_owners(std::span<const UOp> order);
  void measure_distances(std::span<const UOp> order);
  void release_cheap(std::span<const UOp> order);
  // The lowest node through which everything goes that uses `u`: its only consumer, or an
  // elementwise one in which its consumers meet, as in x * sigmoid(x); null if there is none.
  UOp join_above(UOp u) const;
  // Whether `u` combines the chain below it with another reduction.
  bool adds_reduction(UOp u, UOp chain) const;
  // How many consumers of `u` there are in the elementwise expression that ends in `top`.
  std::int32_t consumers_within(UOp top, UOp u) const;
  bool starts_kernel(UOp u) const;
  Repeated repeated(UOp u) const;
  std::int64_t affordable_operations(UOp u) const;

  MachineModel machine_;
  bool runs_warps_, splits_words_;
  std::vector<Facts> facts_;
  FlatMap<const Node*, BufferReason> reasons_;  // of the buffered nodes
};

// Arithmetic of one op: simple ones count one, transcendental ones ten.
std::int32_t arithmetic_cost(Op op);

// A node that stands for memory already: a Buffer or an After on one.
bool is_state(UOp u);
// `u` without the movement ops on top.
UOp strip_movement(UOp u);

}  // namespace croze
