// combine_items.cpp -- a tree in group memory.
//
// Each item writes its value.  Then the lower half of the items combines what it has with that of
// the upper half, until one value is left, as the lanes of a vector are combined.  Between the
// steps all items meet: linearize() puts barriers around each store to memory that a group shares.
#include "croze/codegen/lower/combine_items.h"

#include <algorithm>

#include "croze/graph/graph.h"

namespace croze {

ItemCombiner::ItemCombiner(std::span<const UOp> nodes) {
  for (UOp u : nodes) {
    if (u.is(Op::Local)) next_local_ = std::max(next_local_, u.arg().ints[0] + 1);
    if (!u.is(Op::Range)) continue;
    const LoopKind kind = u.loop_kind();
    if (kind == LoopKind::Item || kind == LoopKind::Lane) apart_.push_back(u);
  }
  // Lanes last, next to each other.
  std::ranges::sort(apart_, {},
                    [](UOp r) { return std::pair(r.loop_kind() == LoopKind::Lane, r.range_id()); });
}

UOp ItemCombiner::combined(Op op, UOp value, UOp item) {
  Graph& g = value.graph();
  UOp own = g.index(0);  // the place of what one item has, or of its lanes, in a row
  std::int64_t row = 1;
  for (UOp r : apart_) {
    if (r == item || !value.varies_over(r)) continue;
    own = own * r.range_size() + r;
    row *= r.range_size();
  }
  const std::int64_t count = item.range_size();
  const UOp tile = g.local(value.dtype(), next_local_++, count * row, Space::Group);
  const UOp at = item * row + own;
  const UOp closed[] = {item};  // what comes of it all items have in common
  UOp step = g.store(g.place(tile, at), value, closed);
  for (std::int64_t left = count; left > 1; left = (left + 1) / 2) {
    const std::int64_t half = (left + 1) / 2;
    const UOp before = g.after(tile, std::span(&step, 1));
    const UOp gate = less(item, left - half);
    const UOp low = g.load(g.place(before, at, gate));
    const UOp high = g.load(g.place(before, at + half * row, gate));
    step = g.store(g.place(before, at, gate), g.alu(op, {low, high}), closed);
  }
  return g.load(g.place(g.after(tile, std::span(&step, 1)), own));
}

}  // namespace croze
