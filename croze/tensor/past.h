// past.h -- internal to tensor/: how the contents of memory came about, which is what gradients
// are asked of.
//
// A Buffer node names contents, not memory: memory that is overwritten gets another Buffer.  So
// what is written down here of a Buffer is true for ever, and is dropped only when nobody can ask
// for it any more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/uop.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Call;

class Past {
 public:
  using Nodes = FlatSet<const Node*>;

  // The contents `value`, a Buffer or a Reshape of one, were computed as `recorded`.
  void computed(UOp value, UOp recorded) { histories_.insert(value.node(), recorded); }
  // A gradient that comes to `value` ends there.
  void forget(UOp value) { histories_.erase(value.node()); }
  // What `node` means, a store that has happened or a view that was copied, stands in `value`.
  void stored(UOp node, UOp value) { stored_.insert(value.node(), node); }
  // The contents `before` are gone: their memory holds `now`, because of the assignment there.
  void overwritten(UOp before, UOp now, Location by);
  // The Buffer is gone, with its memory.
  void released(UOp buffer) { memories_.erase(buffer.buffer_id()); }

  // All nodes that are written down of values, to be brought up to date.
  template <typename F>
  void for_each_recorded(F f) {
    for (Histories* recorded : {&histories_, &stored_}) {
      for (auto& [value, node] : *recorded) f(node);
    }
  }

  // Drops what no gradient by a node of `live` needs, and returns all nodes that are reached then.
  Nodes prune(std::span<const UOp> live);

  // Gradients through what was recorded, whether it has been computed since or not.  Throws Error,
  // as the call, where contents are needed that are gone.
  std::vector<UOp> gradient(const Call& call, UOp loss, std::span<const UOp> targets) const;

 private:
  using Histories = FlatMap<const Node*, UOp>;
  struct Overwritten {
    std::int64_t memory;
    Location by;
  };

  bool is_gone(UOp value) const;
  void unfold(UOp root, const Histories& histories, Histories& now) const;
  std::int64_t memory_of(UOp buffer) const;
  FlatSet<std::int64_t> memories_of(std::span<const UOp> nodes) const;
  void check_independent(const Call& call, std::span<const UOp> reached, UOp target) const;
  void check_present(const Call& call, std::span<const UOp> results) const;
  void drop_useless(std::span<const UOp> live);
  Nodes keep_reached(std::span<const UOp> live);
  void cut(UOp value, const FlatSet<std::int64_t>& live);

  Histories histories_;
  Histories stored_;  // nodes by the values that they mean
  FlatMap<const Node*, Overwritten> overwritten_;
  FlatMap<std::int64_t, std::int64_t> memories_;  // of Buffers that have another id
                                                  // than their memory had first
  // Values whose history was too long to keep, and the memory of live tensors that it led to.
  FlatMap<const Node*, FlatSet<std::int64_t>> cut_;
};

}  // namespace croze
