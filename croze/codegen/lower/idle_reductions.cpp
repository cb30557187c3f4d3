// idle_reductions.cpp -- what all uses of a reduction ask for limits the turns of its loop.
//
// From the store down each value collects the conditions under which it is looked at: those of the
// selections and gated stores on all ways to it.  The condition of what is reduced comes to those.
// How far a loop turns then varies over the loops around the tile alone (masked_turns.h).
#include "croze/codegen/lower/idle_reductions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/base/small_vector.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/codegen/lower/masked_turns.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/transport.h"
#include "croze/graph/tuple.h"

namespace croze {
namespace {

// Comparisons of indices that all hold, each once.
using Conditions = std::vector<UOp>;

void add_comparisons(Conditions& conditions, UOp condition) {
  for (UOp c : conjuncts(condition)) {
    const bool is_new = std::ranges::find(conditions, c) == conditions.end();
    if (compares_indices(c) && is_new) conditions.push_back(c);
  }
}

void keep_common(Conditions& conditions, const Conditions& others) {
  std::erase_if(conditions, [&](UOp c) { return std::ranges::find(others, c) == others.end(); });
}

// What a node asks for where it looks at one of its sources; null: nothing.
UOp condition_of_use(UOp user, int source) {
  if (user.is(Op::Where) && source == 1) return user.src(0);
  const bool is_gated = user.is(Op::Store) && source == 1 && user.src(0).num_src() > 2;
  return is_gated ? user.src(0).src(2) : UOp();
}

// By node: under which conditions it is looked at.
class Demand {
 public:
  explicit Demand(const std::vector<UOp>& order) {
    for (std::size_t i = order.size(); i-- > 0;) {
      const UOp user = order[i];
      for (int s = 0; s < user.num_src(); s++) look_at(user, s);
    }
  }

  const Conditions& of(UOp u) const {
    static const Conditions none;
    const Conditions* found = conditions_.find(u.node());
    return found ? *found : none;
  }

 private:
  void look_at(UOp user, int source) {
    Conditions now = of(user);
    if (const UOp condition = condition_of_use(user, source)) add_comparisons(now, condition);
    const auto [before, is_first] = conditions_.insert(user.src(source).node(), now);
    if (!is_first) keep_common(*before, now);
  }

  FlatMap<const Node*, Conditions> conditions_;
};

// Whether a tile extends over the range, or those who run it at once must go the same way.
bool is_in_tile(UOp range) {
  switch (range.loop_kind()) {
    case LoopKind::Lane:
    case LoopKind::Unroll:
    case LoopKind::Item:
    case LoopKind::Depth:
    case LoopKind::Reduce: return true;
    default: return false;
  }
}

// A loop of reductions, with what they have in common.
struct ReductionLoop {
  UOp range;
  Conditions conditions;
  RangeSet around;
  bool is_filled_ahead = false;  // what the first turns read is there before the loop
};

// The conditions under which the terms are any.
Conditions conditions_of_terms(UOp reduce) {
  Conditions conditions;
  if (reduce.is(Op::Reduce)) {
    if (const UOp mask = mask_of_terms(reduce)) add_comparisons(conditions, mask);
    return conditions;
  }
  // Where those of a tuple's leaders are none, so are those that are exponentials under them.
  const std::vector<TuplePart> parts = form_of(reduce).parts;
  for (std::size_t i = 0; i < parts.size(); i++) {
    if (parts[i].transport == exponential_law) continue;
    const UOp mask = mask_of_value(reduce.src(static_cast<int>(i)), parts[i].op);
    if (!mask || parts[i].transport >= 0) return {};
    Conditions of_part;
    add_comparisons(of_part, mask);
    if (i == 0) {
      conditions = std::move(of_part);
    } else {
      keep_common(conditions, of_part);
    }
  }
  return conditions;
}

// The outermost loop of each reduction.
std::vector<ReductionLoop> reduction_loops(const std::vector<UOp>& order, const Demand& demand) {
  std::vector<ReductionLoop> loops;
  RangeSet others;  // closed by what is no reduction, or loops further inside
  for (UOp u : order) {
    if (u.first_closed() >= u.num_src()) continue;
    const std::vector<UOp> closed = closed_ranges(u);
    const bool reduces =
        (u.is(Op::Reduce) || u.is(Op::TupleReduce)) && closed[0].loop_kind() == LoopKind::Reduce;
    for (UOp r : std::span(closed).subspan(reduces ? 1 : 0)) others = others | r.ranges();
    if (!reduces) continue;
    Conditions conditions = demand.of(u);
    for (UOp c : conditions_of_terms(u)) add_comparisons(conditions, c);
    const auto known = std::ranges::find(loops, closed[0], &ReductionLoop::range);
    if (known == loops.end()) {
      loops.push_back({closed[0], std::move(conditions), u.ranges()});
    } else {
      keep_common(known->conditions, conditions);
      known->around = known->around & u.ranges();
    }
  }
  for (ReductionLoop& l : loops)
    std::erase_if(l.conditions, [&](UOp c) { return !is_settled(c, order); });
  std::erase_if(loops, [&](const ReductionLoop& l) {
    return l.conditions.empty() || others.contains(l.range.range_id());
  });
  const RangeSet ahead = turns_filled_ahead(order);
  for (ReductionLoop& l : loops) l.is_filled_ahead = ahead.contains(l.range.range_id());
  return loops;
}

// The loop without the turns in which its reductions are not wanted, or add nothing; its turns as
// they were are `first` more than those.
struct Rested {
  UOp range, first;
};

std::optional<Rested> rested(const ReductionLoop& loop, RangeSet in_tiles) {
  Graph& g = loop.range.graph();
  MaskedTurns turns;
  for (UOp c : loop.conditions) {
    turns = both(turns, turns_of_mask(c, loop.range, loop.around - in_tiles, Open::Somewhere));
  }
  if (loop.is_filled_ahead) turns.first = UOp();
  const UOp all = loop.range.trip_count();
  const UOp first = clamped(turns.first, loop.range, g.index(0));
  const UOp end = clamped(turns.end, loop.range, all);
  if (first.is_const(0) && end == all) return {};
  const UOp trip = turns_between(first, end);
  return Rested{g.make(Op::Range, DType::Index, {trip}, loop.range.arg()), first};
}

// The kernel with these loops.
UOp with_loops(const std::vector<UOp>& order, const FlatMap<const Node*, Rested>& loops) {
  FlatMap<const Node*, UOp> made;
  for (UOp u : order) {
    SmallVector<UOp, 8> src;
    for (int i = 0; i < u.num_src(); i++) {
      const Rested* loop = i < u.first_closed() ? nullptr : loops.find(u.src(i).node());
      src.push_back(loop ? loop->range : *made.find(u.src(i).node()));
    }
    const Rested* loop = loops.find(u.node());
    made.insert(u.node(), loop ? loop->first + loop->range : u.graph().with_sources(u, src));
  }
  return *made.find(order.back().node());
}

}  // namespace

UOp rest_idle_reductions(UOp sink) {
  const std::vector<UOp> order = toposort(sink);
  const auto is_conditional = [](UOp u) { return static_cast<bool>(condition_of_use(u, 1)); };
  if (std::ranges::none_of(order, is_conditional)) return sink;
  const Demand demand(order);
  RangeSet in_tiles;
  for (UOp u : order) {
    if (u.is(Op::Range) && is_in_tile(u)) in_tiles = in_tiles | u.ranges();
  }
  FlatMap<const Node*, Rested> loops;
  for (const ReductionLoop& loop : reduction_loops(order, demand)) {
    if (const auto r = rested(loop, in_tiles)) loops.insert(loop.range.node(), *r);
  }
  return loops.empty() ? sink : with_loops(order, loops);
}

}  // namespace croze
