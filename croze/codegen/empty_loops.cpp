// empty_loops.cpp -- gates for loads that have lost their loops.
#include "croze/codegen/empty_loops.h"

#include <algorithm>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

bool may_be_empty(UOp u) { return u.is_open() && u.trip_count().lo() < 1; }

// For each node, the loops that may be empty and in which everything stands that uses it.
class LoopsAround {
 public:
  explicit LoopsAround(const std::vector<UOp>& order)
      : around_(order.back().graph()), used_(order.back().graph()) {
    for (UOp u : order) {
      if (may_be_empty(u)) all_.push_back(u);
    }
    for (std::size_t i = order.size(); i-- > 0 && !all_.empty();) add_sources(order[i]);
  }

  bool any() const { return !all_.empty(); }

  std::vector<UOp> of(UOp u) const {
    std::vector<UOp> result;
    for (UOp r : all_) {
      if (around_.get(u).contains(r.range_id())) result.push_back(r);
    }
    return result;
  }

 private:
  void add_sources(UOp u) {
    RangeSet of_sources = around_.get(u);
    for (int i = u.first_closed(); i < u.num_src(); i++) {
      if (may_be_empty(u.src(i))) of_sources = of_sources | u.src(i).ranges();
    }
    for (UOp s : u.sources()) {
      around_.set(s, used_.get(s) ? around_.get(s) & of_sources : of_sources);
      used_.set(s, true);
    }
  }

  std::vector<UOp> all_;
  NodeMap<RangeSet> around_;
  NodeMap<bool> used_;
};

bool have_variable_in_common(UOp a, UOp b) {
  const std::vector<UOp> of_a = toposort(a);
  return std::ranges::any_of(toposort(b), [&](UOp u) {
    return u.is(Op::Variable) && std::ranges::find(of_a, u) != of_a.end();
  });
}

// Whether the place varies over a loop that turns as often.
bool varies_over_like(UOp place, UOp range, const std::vector<UOp>& order) {
  return std::ranges::any_of(order, [&](UOp u) {
    return u.is_open() && u.trip_count() == range.trip_count() && place.varies_over(u);
  });
}

UOp buffer_under(UOp place) {
  UOp buffer = place.src(0);
  while (buffer.is(Op::After)) buffer = buffer.src(0);
  return buffer;
}

// Whether where it is takes a division by what is zero if a loop that turns so often does not.
bool divides_by_turns(UOp place, UOp turns) {
  return std::ranges::any_of(toposort(place.src(1)), [&](UOp u) {
    const bool divides = u.is(Op::IDiv) || u.is(Op::Mod);
    return divides && u.src(1).lo() < 1 && have_variable_in_common(u.src(1), turns);
  });
}

// That the loops turn which have gone from the place and without which its buffer is empty, or it
// is nowhere; null if there are none.
UOp condition_for(UOp place, const LoopsAround& loops, const std::vector<UOp>& order) {
  const UOp buffer = buffer_under(place);
  UOp condition;
  for (UOp r : loops.of(place)) {
    if (varies_over_like(place, r, order)) continue;
    const bool is_empty =
        buffer.num_src() > 0 && have_variable_in_common(buffer.src(0), r.trip_count());
    if (!is_empty && !divides_by_turns(place, r.trip_count())) continue;
    const UOp turns = less(place.graph().index(0), r.trip_count());
    condition = condition ? condition & turns : turns;
  }
  return condition;
}

}  // namespace

UOp guard_empty_loops(UOp sink) {
  const std::vector<UOp> order = toposort(sink);
  const LoopsAround loops(order);
  if (!loops.any()) return sink;
  Graph& g = sink.graph();
  NodeMap<UOp> guarded(g);
  std::vector<UOp> src;
  for (UOp u : order) {
    src.clear();
    for (UOp s : u.sources()) src.push_back(guarded.get(s));
    guarded.set(u, u.num_src() == 0 ? u : g.with_sources(u, src));
    if (!u.is(Op::Load)) continue;
    const UOp condition = condition_for(u.src(0), loops, order);
    if (!condition) continue;
    const UOp place = guarded.get(u.src(0));
    const UOp gate = place.num_src() > 2 ? place.src(2) & condition : condition;
    guarded.set(u, g.load(g.place(place.src(0), place.src(1), gate)));
  }
  return guarded.get(sink);
}

}  // namespace croze
