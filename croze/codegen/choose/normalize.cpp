// normalize.cpp -- a kernel's loops put in the form the choosers expect.
#include "croze/codegen/choose/normalize.h"

#include <algorithm>
#include <functional>

#include "croze/codegen/choose/split_loops.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/share.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// ---- merging ----------------------------------------------------------------------------------

// The indices of what is accessed, whatever the gates say.
std::vector<UOp> places_in_memory(UOp sink) {
  std::vector<UOp> uses;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Index)) uses.push_back(u.src(1));
  }
  return uses;
}

// How `use` moves when `range` moves by one, an expression of Variables; null if that is not always
// the same.
UOp step_of(UOp use, UOp range) {
  const std::pair<UOp, UOp> next[] = {{range, range + 1}};
  const UOp step = substitute(use, next) - use;
  return step.varies_over(range) ? UOp() : step;
}

bool open_walked_as_one(const std::vector<UOp>& uses, UOp outer, UOp inner) {
  return std::ranges::all_of(uses, [&](UOp use) {
    if (!use.varies_over(outer) && !use.varies_over(inner)) return true;
    const UOp a = step_of(use, outer), b = step_of(use, inner);
    return a && b && a == b * inner.trip_count();
  });
}

}  // namespace

bool walked_as_one(const std::vector<UOp>& uses, UOp outer, UOp inner) {
  if (outer.is_open() || inner.is_open()) return open_walked_as_one(uses, outer, inner);
  for (UOp use : uses) {
    if (!use.varies_over(outer) && !use.varies_over(inner)) continue;
    const Stride a = stride_over(use, outer), b = stride_over(use, inner);
    if (!a.affine || !b.affine || a.step != b.step * inner.range_size()) return false;
  }
  return true;
}

namespace {

// As walked_as_one, where some are no multiples of the place in both loops but quotients of it.
bool divided_as_one(const KernelState& k, const std::vector<UOp>& uses, UOp outer, UOp inner) {
  if (outer.is_open() || inner.is_open()) return false;
  const UOp both = merged_range(k, outer, inner);
  return std::ranges::all_of(uses, [&](UOp use) {
    const bool is_idle = !use.varies_over(outer) && !use.varies_over(inner);
    return is_idle || in_merged(use, outer, inner, both);
  });
}

// One pass over the neighbours in `loops`; true if two were merged.
bool merge_one(KernelState& k, std::span<const UOp> loops) {
  const std::vector<UOp> uses = index_uses(k.sink);
  for (std::size_t i = 0; i + 1 < loops.size(); i++) {
    const UOp outer = loops[i], inner = loops[i + 1];
    if (outer.loop_kind() != inner.loop_kind()) continue;
    if (!walked_as_one(uses, outer, inner) && !divided_as_one(k, uses, outer, inner)) continue;
    merge(k, outer, inner);
    return true;
  }
  return false;
}

void merge_neighbours(KernelState& k) {
  while (merge_one(k, std::vector<UOp>(k.loops))) {
  }
  for (bool merged = true; merged;) {
    merged = false;
    for (UOp u : reduces(k.sink)) {
      merged = merge_one(k, closed_ranges(u));
      if (merged) break;
    }
  }
}

// Any two that every access walks as one as far as it is there; false if there are none.
bool merge_pair(KernelState& k, const std::vector<UOp>& loops) {
  const std::vector<UOp> places = places_in_memory(k.sink);
  for (UOp outer : loops) {
    for (UOp inner : loops) {
      const Edit merging{.kind = EditKind::Merge, .ranges = {outer.range_id(), inner.range_id()}};
      if (outer == inner || !walked_as_one(places, outer, inner)) continue;
      if (is_serial(outer) || !is_legal(k, merging)) continue;
      merge(k, outer, inner);
      return true;
    }
  }
  return false;
}

// ---- sharing ----------------------------------------------------------------------------------

// Two reductions in the same place over the same sizes run in one loop.
bool share_one(KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink), order = toposort(k.sink);
  for (std::size_t i = 0; i < all.size(); i++) {
    for (std::size_t j = i + 1; j < all.size(); j++) {
      if (all[i].ranges() != all[j].ranges()) continue;
      const std::vector<UOp> a = closed_ranges(all[i]), b = closed_ranges(all[j]);
      if (!refuse_sharing(order, a, b).empty()) continue;
      share(k, a, b);
      return true;
    }
  }
  return false;
}

// ---- order ------------------------------------------------------------------------------------

// Independent loops around those whose iterations must stay in order; of the independent ones, the
// loops that the most stores and hoisted reductions need outermost.
void order_loops(KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink);
  const auto needs = [&](UOp r) {
    const auto reductions = std::ranges::count_if(all, [&](UOp u) { return u.varies_over(r); });
    return is_serial(r) ? -1 : reductions + stores_in(k.sink, r);
  };
  std::vector<UOp> order = k.loops;
  std::ranges::stable_sort(order, std::greater(), needs);
  reorder(k, order);
}

}  // namespace

void normalize_loops(KernelState& k) {
  split_loops(k);
  merge_neighbours(k);
  split_loops(k);  // merged loops may be divided as one
  while (share_one(k)) {
  }
  order_loops(k);
}

void merge_gated_loops(KernelState& k) {
  while (merge_pair(k, k.loops)) {
  }
  const std::vector<UOp> all = reduces(k.sink);
  if (all.size() != 1) return;
  while (merge_pair(k, closed_ranges(reduces(k.sink)[0]))) {
  }
}

}  // namespace croze
