// node_values.h -- the values of all nodes below some roots, for many values of their leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/uop.h"

namespace croze::fuzz {

// Scalars only.  Leaves are Variable, Range and Load nodes.
class NodeValues {
 public:
  explicit NodeValues(std::span<const UOp> roots) : slot_(roots[0].graph()) {
    std::vector<UOp> pending(roots.begin(), roots.end());
    while (!pending.empty()) visit(pending);
  }
  explicit NodeValues(const std::vector<UOp>& roots) : NodeValues(std::span(roots)) {}

  // `value_of(leaf)` gives the bits of each leaf.
  template <typename ValueOf>
  void compute(const ValueOf& value_of) {
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const UOp u = nodes_[i];
      if (is_leaf(u)) {
        values_[i] = value_of(u);
        continue;
      }
      if (u.is_const()) continue;
      std::int64_t operands[3] = {};
      const auto count = static_cast<std::size_t>(u.num_src());
      for (std::size_t k = 0; k < count; k++) operands[k] = values_[sources_[i][k]];
      values_[i] = eval(u.op(), u.dtype(), u.src(u.num_src() - 1).dtype(), {operands, count});
    }
  }

  std::int64_t of(UOp u) const { return values_[static_cast<std::size_t>(slot_.get(u)) - 1]; }
  const std::vector<UOp>& nodes() const { return nodes_; }  // sources first

 private:
  struct Sources {
    std::size_t at[3] = {};
    std::size_t operator[](std::size_t k) const { return at[k]; }
  };

  static bool is_leaf(UOp u) { return u.is(Op::Variable) || u.is(Op::Range) || u.is(Op::Load); }

  // Numbers the last of `pending` if its sources have numbers, else puts them on top.
  void visit(std::vector<UOp>& pending) {
    const UOp u = pending.back();
    Sources sources;
    bool ready = true;
    if (slot_.get(u) == 0 && !is_leaf(u) && !u.is_const()) {
      ensure(is_elementwise(u.op()), "{} has no value", info(u.op()).name);
      for (int k = 0; k < u.num_src(); k++) {
        const int slot = slot_.get(u.src(k));
        if (slot == 0) pending.push_back(u.src(k));
        ready = ready && slot != 0;
        sources.at[k] = static_cast<std::size_t>(std::max(slot, 1)) - 1;
      }
    }
    if (!ready) return;
    pending.pop_back();
    if (slot_.get(u) != 0) return;
    nodes_.push_back(u);
    sources_.push_back(sources);
    values_.push_back(u.is_const() ? u.arg().value : 0);
    slot_.set(u, static_cast<int>(nodes_.size()));
  }

  std::vector<UOp> nodes_;
  std::vector<Sources> sources_;
  std::vector<std::int64_t> values_;
  NodeMap<int> slot_;  // of a node, from 1
};

}  // namespace croze::fuzz
