// idle_reductions.cpp -- what all uses of a reduction ask for becomes the trip count of its loop.
//
// From the store down each value collects the conditions under which it is looked at: those of the
// selections and gated stores on all ways to it.  Of a condition `8 * i + row - key < 1` in a tile
// over `row` and `key` the least that the left side can be in the tile decides; it varies over the
// loops around the tile alone.
#include "croze/codegen/lower/idle_reductions.h"

#include <algorithm>
#include <vector>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Comparisons of indices that all hold, each once.
using Conditions = std::vector<UOp>;

void add_comparisons(Conditions& conditions, UOp condition) {
  std::vector<UOp> pending{condition};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::And)) {
      for (UOp s : u.sources()) pending.push_back(s);
    } else if (u.is(Op::Lt) && u.src(0).dtype() == DType::Index && u.src(1).is_const() &&
               std::ranges::find(conditions, u) == conditions.end()) {
      conditions.push_back(u);
    }
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
};

// The outermost loop of each reduction.
std::vector<ReductionLoop> reduction_loops(const std::vector<UOp>& order, const Demand& demand) {
  std::vector<ReductionLoop> loops;
  RangeSet others;  // closed by what is no reduction, or loops further inside
  for (UOp u : order) {
    if (u.first_closed() >= u.num_src()) continue;
    const std::vector<UOp> closed = closed_ranges(u);
    const bool reduces = u.is(Op::Reduce) && closed[0].loop_kind() == LoopKind::Reduce;
    for (UOp r : std::span(closed).subspan(reduces ? 1 : 0)) others = others | r.ranges();
    if (!reduces) continue;
    const auto known = std::ranges::find(loops, closed[0], &ReductionLoop::range);
    if (known == loops.end()) {
      loops.push_back({closed[0], demand.of(u), u.ranges()});
    } else {
      keep_common(known->conditions, demand.of(u));
      known->around = known->around & u.ranges();
    }
  }
  std::erase_if(loops, [&](const ReductionLoop& l) {
    return l.conditions.empty() || others.contains(l.range.range_id());
  });
  return loops;
}

// Whether the comparison holds anywhere in the tile, as far as the loops around it say; null if it
// does for all that is known.
UOp holds_somewhere(UOp comparison, RangeSet around) {
  LinearForm least;
  const LinearForm form = LinearForm::of(comparison.src(0));
  least.constant = form.constant;
  for (const Term& t : form.terms) {
    if ((t.atom.ranges() - around).empty()) {
      least.add(t.atom, t.coefficient);
    } else if (t.atom.is(Op::Range)) {
      const std::int64_t last = t.atom.range_size() - 1;
      if (t.coefficient < 0) least.constant += t.coefficient * last;
    } else {
      return UOp();
    }
  }
  if (least.bounds().hi < comparison.src(1).const_int()) return UOp();
  return less(least.build(comparison.graph()), comparison.src(1));
}

// The range with a trip count that is 0 where its reductions are not wanted; null if they always
// are, for all that is known.
UOp resting(const ReductionLoop& loop, RangeSet in_tiles) {
  Graph& g = loop.range.graph();
  UOp wanted;
  for (UOp c : loop.conditions) {
    const UOp somewhere = holds_somewhere(c, loop.around - in_tiles);
    if (somewhere) wanted = wanted ? wanted & somewhere : somewhere;
  }
  if (!wanted) return UOp();
  const UOp trip = g.alu(Op::Where, {wanted, loop.range.trip_count(), g.index(0)});
  return g.make(Op::Range, DType::Index, {trip}, loop.range.arg());
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
  std::vector<std::pair<UOp, UOp>> replacements;
  for (const ReductionLoop& loop : reduction_loops(order, demand)) {
    if (const UOp range = resting(loop, in_tiles)) replacements.emplace_back(loop.range, range);
  }
  return replacements.empty() ? sink : substitute(sink, replacements);
}

}  // namespace croze
