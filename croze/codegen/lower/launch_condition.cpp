// launch_condition.cpp -- what all gates have in common becomes how often the outermost loops turn.
#include "croze/codegen/lower/launch_condition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using Replacements = std::vector<std::pair<UOp, UOp>>;

UOp gate_of(UOp store) { return store.src(0).num_src() > 2 ? store.src(0).src(2) : UOp(); }

bool is_known_at_launch(UOp condition) {
  return condition.ranges().empty() &&
         std::ranges::none_of(toposort(condition), [](UOp u) { return u.is(Op::Load); });
}

// What of a gate varies, or is the condition, as wanted.
std::vector<UOp> parts_of_gate(UOp gate, bool known) {
  std::vector<UOp> parts;
  if (gate) parts = conjuncts(gate);
  std::erase_if(parts, [&](UOp c) { return is_known_at_launch(c) != known; });
  return parts;
}

UOp all_of(const std::vector<UOp>& conditions) {
  UOp all;
  for (UOp c : conditions) all = all ? all & c : c;
  return all;
}

// The store under another gate; null: none.
UOp with_gate(UOp store, UOp gate) {
  Graph& g = store.graph();
  const UOp at = store.src(0);
  const UOp place = gate ? g.place(at.src(0), at.src(1), gate) : g.place(at.src(0), at.src(1));
  return g.store(place, store.src(1), closed_ranges(store));
}

}  // namespace

UOp launch_condition(UOp kernel) {
  std::vector<UOp> common = parts_of_gate(gate_of(kernel.src(0)), true);
  for (UOp store : kernel.sources()) {
    const std::vector<UOp> parts = parts_of_gate(gate_of(store), true);
    std::erase_if(common, [&](UOp c) { return std::ranges::find(parts, c) == parts.end(); });
  }
  return all_of(common);
}

UOp without_launch_condition(UOp kernel) {
  if (!launch_condition(kernel)) return kernel;
  Replacements stores;
  for (UOp store : kernel.sources()) {
    stores.emplace_back(store, with_gate(store, all_of(parts_of_gate(gate_of(store), false))));
  }
  return substitute(kernel, stores);
}

UOp turning_where(UOp kernel, UOp condition, std::span<const UOp> loops) {
  Graph& g = kernel.graph();
  Replacements found;
  for (UOp store : kernel.sources()) {
    const auto is_outermost = [&](UOp r) {
      const bool turns = r.loop_kind() == LoopKind::Parallel || r.loop_kind() == LoopKind::Serial;
      return turns && closes(store, r);
    };
    const auto loop = std::ranges::find_if(loops, is_outermost);
    if (loop == loops.end()) {
      const UOp gate = gate_of(store);
      found.emplace_back(store, with_gate(store, gate ? gate & condition : condition));
    } else {
      const UOp turns = where(condition, loop->trip_count(), g.index(0));
      found.emplace_back(*loop, g.make(Op::Range, DType::Index, {turns}, loop->arg()));
    }
  }
  return substitute(kernel, found);
}

}  // namespace croze
