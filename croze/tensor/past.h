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
#include "croze/graph/node_set.h"
#include "croze/tensor/contents.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Call;

class Past {
 public:
  using Nodes = NodeSet;
  // A tensor, and what a gradient is asked by.
  struct Live {
    UOp node;
    Contents contents;
    bool is_detached = false;  // no gradient comes to it
  };
  struct Target {
    UOp node;
    Contents contents;
    Location assigned_at;  // the last assignment
  };

  // The contents `value`, a Buffer or a Reshape of one, were computed as `recorded`.
  void computed(UOp value, UOp recorded) { histories_.insert(value.node(), recorded); }
  // A gradient that comes to `value` ends there.
  void forget(UOp value) { histories_.erase(value.node()); }
  // Whether it is written down how the contents `value` came about, or what that led to.
  bool knows(UOp value) const { return histories_.find(value.node()) || leads_.find(value.node()); }
  // What `node` means, a store that has happened or a view that was copied, stands in `value`.
  void stored(UOp node, UOp value) { stored_.insert(value.node(), node); }
  // `node` is what a tensor held before the assignment there.
  void left(UOp node, Contents contents, Location by);
  // The contents `before` are gone from memory, because of the assignment there.
  void overwritten(UOp before, Location by);

  // All nodes that are written down of values, to be brought up to date.
  template <typename F>
  void for_each_recorded(F f) {
    for (Histories* recorded : {&histories_, &stored_}) {
      for (auto& [value, node] : *recorded) f(node);
    }
  }
  // The nodes that tensors held and that have not been computed; and what they are now, in order.
  std::vector<UOp> left_nodes() const;
  void rename_left(std::span<const UOp> nodes, std::span<const UOp> now);

  // Drops what is written down that no gradient by a tensor of `live` needs.  The nodes may be as
  // they were recorded: a value is not told from what it was computed as.
  void drop_useless(std::span<const Live> live);
  // Drops all else that these tensors do not reach, and returns the nodes that they do.
  Nodes prune(std::span<const Live> live);

  // Gradients through what was recorded, whether it has been computed since or not: of the roots,
  // each weighted with what flows into it.  Nothing flows through a WithGradient.  Throws Error, as
  // the call, where contents are needed that are gone, and where the way to a target is.
  std::vector<UOp> gradient(const Call& call, std::span<const UOp> roots,
                            std::span<const UOp> weights, std::span<const Target> targets) const;

  // A WithGradient, and whether each of its inputs leads on to a target.
  struct Given {
    UOp node;
    std::vector<bool> leads;
  };
  // Those through which the roots lead to the targets, sources first.
  std::vector<Given> given_between(std::span<const UOp> roots, std::span<const UOp> targets) const;
  // Throws Error, as the call, if the nodes read contents that are gone.
  void check_present(const Call& call, std::span<const UOp> nodes) const;

 private:
  using Histories = FlatMap<const Node*, UOp>;
  // What a tensor held.
  struct Former {
    Contents contents;
    Location by;           // who assigned
    bool is_gone = false;  // from memory
  };

  const Former* gone(UOp value) const;
  bool is_gone(UOp value) const;
  Nodes known_of(const Call& call, std::span<const UOp> roots, std::span<const Target> targets,
                 std::span<const UOp> reached, const Histories& histories) const;
  FlatMap<std::int64_t, std::int64_t> versions_led_to(std::span<const UOp> reached) const;
  void unfold(UOp root, const Histories& histories, Histories& now) const;
  Histories histories_below(std::span<const UOp> roots) const;
  void forget_dead(std::span<const Live> live, ContentsPool& pool);
  void drop_useless_histories(std::span<const Live> live, ContentsPool& pool);
  Nodes wanted_of(std::span<const Live> live, std::span<const UOp> order) const;
  FlatMap<const Node*, ContentsSet> led_to(std::span<const UOp> order, const Nodes& leading,
                                           ContentsPool& pool) const;
  Nodes keep_reached(std::span<const Live> live, ContentsPool& pool);
  void cut(std::span<const UOp> values, std::span<const Live> live, ContentsPool& pool);

  Histories histories_;
  Histories stored_;  // nodes by the values that they mean
  FlatMap<const Node*, Former> former_;
  // What nodes lead to in ways that are written down nowhere else: a value whose history was
  // dropped, to what that led to; what several tensors held, to that of those after the first.
  FlatMap<const Node*, ContentsSet> leads_;
};

}  // namespace croze
