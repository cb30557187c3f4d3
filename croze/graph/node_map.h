// node_map.h -- a map from the nodes of one graph: side tables of passes and memos of drivers.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"

namespace croze {

// An array by node id in the small graph of a kernel, in pages that exist once something stands in
// them: a map of a few nodes costs little in any graph.  Hashed in a large graph, of which a pass
// sees only a part.  Value{} means absent.
template <typename Value>
class NodeMap {
 public:
  explicit NodeMap(const Graph& graph) : dense_(graph.id_limit() <= dense_limit) {}

  // The value of `u`, or Value{}.
  Value get(UOp u) const {
    if (!dense_) {
      const Value* found = by_node_.find(u.node());
      return found ? *found : Value{};
    }
    const std::uint32_t page = u.id() / page_size;
    if (page >= pages_.size() || !pages_[page]) return Value{};
    return (*pages_[page])[u.id() % page_size];
  }

  void set(UOp u, Value value) {
    if (!dense_) {
      by_node_[u.node()] = value;
      return;
    }
    const std::uint32_t page = u.id() / page_size;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    (*pages_[page])[u.id() % page_size] = value;
  }

 private:
  static constexpr std::uint32_t dense_limit = 1 << 16;
  static constexpr std::uint32_t page_size = 64;
  using Page = std::array<Value, page_size>;

  bool dense_;
  std::vector<std::unique_ptr<Page>> pages_;
  FlatMap<const Node*, Value> by_node_;
};

}  // namespace croze
