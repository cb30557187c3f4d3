// node_map.h -- a map from the nodes of one graph: side tables of passes and memos of drivers.
#pragma once

#include <vector>

#include "base/flat_map.h"
#include "graph/graph.h"

namespace croze {

// Dense by node id in the small graph of a kernel; hashed in a large one, of which a pass sees only
// a part.  Value{} means absent.
template <typename Value>
class NodeMap {
 public:
  explicit NodeMap(const Graph& graph) : dense_(graph.id_limit() <= dense_limit) {
    if (dense_) by_id_.resize(graph.id_limit());
  }

  // The value of `u`, or Value{}.
  Value get(UOp u) const {
    if (dense_) return u.id() < by_id_.size() ? by_id_[u.id()] : Value{};
    const Value* found = by_node_.find(u.node());
    return found ? *found : Value{};
  }

  void set(UOp u, Value value) {
    if (!dense_) {
      by_node_[u.node()] = value;
      return;
    }
    if (u.id() >= by_id_.size()) by_id_.resize(u.id() + u.id() / 2 + 64);
    by_id_[u.id()] = value;
  }

 private:
  static constexpr std::uint32_t dense_limit = 1 << 16;

  bool dense_;
  std::vector<Value> by_id_;
  FlatMap<const Node*, Value> by_node_;
};

}  // namespace croze
