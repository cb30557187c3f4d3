// open_blocks.cpp -- blocks of which a mask leaves nothing do nothing.
//
// Of the gradients of causal attention, in blocks of rows and of keys,
//
//     for i, j:  p[i, j] = exp(s[i, j] - m[i])
//     for i, d:  a[i, d] = sum(p[i, j] * k[j, d] where j <= i)
//     for j, d:  b[j, d] = sum(p[i, j] * q[i, d] where j <= i)
//
// a block that has keys behind its rows adds nothing to either sum, and nobody else wants its p. So
// all its nests do nothing.  The first block to add to rows of b is no longer the first of all: it
// is the one with the first rows that the mask leaves of these keys.  Where it leaves none, the
// nearest block stores that the sum is 0.
#include "croze/schedule/blocks/open_blocks.h"

#include <algorithm>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

bool is_summed(UOp loop) { return loop && loop.loop_kind() == LoopKind::Reduce; }

// The blocks along one axis in which a mask is open somewhere, for what the others are.
struct OpenAlong {
  UOp first, any;  // the first of them; whether this one is, null: always
};

class Finder {
 public:
  Finder(std::span<const UOp> nests, const BlockPlan& plan, std::span<const CutAxis> axes)
      : nests_(nests), plan_(plan), axes_(axes) {}

  OpenBlocks find() {
    OpenBlocks open{.any = {}, .first = std::vector<UOp>(nests_.size())};
    for (std::size_t n = 0; n < nests_.size(); n++) {
      if (!stores_for_others(n)) continue;
      const auto along = open_along_sum(n);
      if (!along.any) return {.any = {}, .first = std::vector<UOp>(nests_.size())};
      open.first[n] = along.first;
      open.any = open.any && open.any != along.any ? open.any | along.any : along.any;
    }
    for (std::size_t n = 0; n < nests_.size() && open.any; n++) {
      if (!open.first[n]) continue;
      const UOp here = equal(summed_axis(n)->number, open.first[n]);
      open.any = open.any | here;
    }
    return open;
  }

 private:
  bool stores_for_others(std::size_t nest) const {
    for (UOp store : nests_[nest].sources()) {
      if (!plan_.sequence.is_inner(store.src(0).src(0))) return true;
    }
    return false;
  }

  // The axis that a nest adds up along; null if there is none, or there are several.
  const CutAxis* summed_axis(std::size_t nest) const {
    const CutAxis* found = nullptr;
    for (const CutAxis& a : axes_) {
      if (!is_summed(a.axis->loops[nest])) continue;
      if (found) return nullptr;
      found = &a;
    }
    return found;
  }

  // Of a nest that adds up along an axis what a mask leaves of its terms.
  OpenAlong open_along_sum(std::size_t nest) const {
    const CutAxis* axis = summed_axis(nest);
    const std::vector<UOp> sums = reduces(nests_[nest]);
    if (!axis || sums.size() != 1) return {};
    const UOp mask = mask_of_terms(sums[0]);
    if (!mask) return {};
    std::vector<std::pair<UOp, UOp>> positions;
    for (const CutAxis& a : axes_) {
      const UOp loop = a.axis->loops[nest];
      if (&a != axis && loop) positions.emplace_back(loop, a.position(loop));
    }
    const UOp loop = axis->axis->loops[nest];
    const std::int64_t extent = axis->extent(loop);
    const MaskedTurns turns = open_turns(mask, loop, positions);
    Graph& g = loop.graph();
    OpenAlong open{g.index(0), {}};
    if (turns.first) {
      const UOp first = max(turns.first, g.index(0)) / extent;
      open.first = min(first, g.index(axis->blocks - 1));
      open.any = less(first, axis->number + 1);
    }
    if (turns.end) {
      const UOp before = less(axis->number * extent, turns.end);
      open.any = open.any ? open.any & before : before;
    }
    return open;
  }

  std::span<const UOp> nests_;
  const BlockPlan& plan_;
  std::span<const CutAxis> axes_;
};

}  // namespace

MaskedTurns open_turns(UOp mask, UOp loop, std::span<const std::pair<UOp, UOp>> positions,
                       RangeSet known) {
  MaskedTurns turns;
  for (UOp c : conjuncts(substitute(mask, positions))) {
    if (c.is(Op::Where) && c.src(1).is_const(1) && c.src(2).is_const(0)) c = c.src(0);
    if (!c.is(Op::Lt) || c.src(0).dtype() != DType::Index) continue;
    const UOp difference = less(c.src(0) - c.src(1), loop.graph().index(0));
    if (!is_comparison_of_index(difference)) continue;
    turns = both(turns, turns_of_mask(difference, loop, known, Open::Somewhere));
  }
  return turns;
}

UOp storing_where(UOp nest, UOp condition) {
  Graph& g = nest.graph();
  std::vector<UOp> stores;
  for (UOp store : nest.sources()) {
    const UOp place = store.src(0);
    const UOp gate = place.num_src() > 2 ? place.src(2) & condition : condition;
    const UOp gated = g.place(place.src(0), place.src(1), gate);
    stores.push_back(g.store(gated, store.src(1), closed_ranges(store)));
  }
  return g.sink(stores);
}

OpenBlocks open_blocks(std::span<const UOp> nests, const BlockPlan& plan,
                       std::span<const CutAxis> axes) {
  return Finder(nests, plan, axes).find();
}

}  // namespace croze
