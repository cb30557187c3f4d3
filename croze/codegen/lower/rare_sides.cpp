// rare_sides.cpp -- finds the choices that a jump can serve.
//
// The nodes of one side are found from the choices down: a node belongs to it when all its uses
// have been found to.
//
// What is loaded belongs to it where all lanes have one condition, and so do sums over lanes: keys
// that a query does not see are not read.
//
// Choices by one condition want one jump, since they often share their work, as the three numbers
// that a remainder is made of do.  They cannot share one if one of them waits for another, be it
// through a second jump, whose choices lie between them, or through a loop of a reduction, which
// ends for all of its results at once.  So each choice has a level: one more than the highest level
// among all it is made of, where whatever comes out of a loop is made of all that goes into it.
// Choices of one level share a jump.  What it needs is of lower levels, so jumps can be made level
// by level.
#include "croze/codegen/lower/rare_sides.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// Instructions on words of 32 bits that a core could have begun while it makes up for a jump that
// it foresaw wrongly: some twenty cycles of two vector instructions each, and as many again, since
// the jump is also there where it helps nobody.
constexpr std::int64_t least_work = 80;

// A vector of wide integers is several.  What is loaded may come from far away.
std::int64_t cost_of(UOp u) {
  constexpr std::int64_t load = 20;
  return u.is(Op::Load) ? load : std::max<std::int64_t>(size_of(u.dtype()) / 4, 1);
}

bool is_one_of(UOp range, std::span<const std::int64_t> ids) {
  return std::ranges::find(ids, range.range_id()) != ids.end();
}

// What is known of the nodes of a kernel.
class Facts {
 public:
  Facts(std::span<const UOp> order, std::span<const std::int64_t> loops) {
    for (UOp u : order) {
      if (u.is(Op::Range) && is_one_of(u, loops)) outputs_ = outputs_ | u.ranges();
      if (is_lane(u)) lanes_ = lanes_ | u.ranges();
      if (is_write(u)) stored_.insert(buffer_of(u.src(0)).node());
    }
    for (UOp u : order) note(u);
  }

  std::int64_t uses_of(UOp u) const { return *uses_.find(u.node()); }
  bool follows_memory(UOp u) const { return loaded_.contains(u.node()); }

  // Whether it stands in no loop that it does not vary over.
  bool stands_where_it_varies(UOp u) const { return !held_.contains(u.node()); }

  bool is_for_all_lanes(UOp u) const { return (u.ranges() & lanes_).empty(); }
  // Whether it varies over these and besides over lanes at most.
  bool varies_over(UOp u, RangeSet ranges) const { return u.ranges() - lanes_ == ranges; }

  // What is loaded from memory that the kernel leaves as it is, where that lies, and what comes to
  // one number for all lanes.
  bool is_of_vectors(UOp u) const {
    if (u.is(Op::Reduce)) return is_lane(u.src(1)) && u.num_src() == 2;
    const UOp place = u.is(Op::Load) ? u.src(0) : u;
    return place.is(Op::Index) && place.src(0).is(Op::Param) &&
           !stored_.contains(place.src(0).node());
  }

 private:
  void note(UOp u) {
    bool loaded = u.is(Op::Load), held = is_held_in_loop(u);
    for (UOp s : u.sources()) {
      loaded = loaded || loaded_.contains(s.node());
      held = held || (held_.contains(s.node()) && !is_effect(s));
      (*uses_.insert(s.node(), 0).first)++;
    }
    if (loaded) loaded_.insert(u.node());
    if (held) held_.insert(u.node());
  }

  static bool is_effect(UOp u) { return is_write(u); }

  // A register in the loop that updates it, a tile while it is filled, memory that is stored to.
  bool is_held_in_loop(UOp u) const {
    if (!u.is(Op::Load)) return false;
    const UOp buffer = buffer_of(u.src(0));
    if (buffer.is(Op::Param)) {
      return stored_.contains(buffer.node()) && !u.ranges().contains_all(outputs_);
    }
    const UOp place = u.src(0).is(Op::Index) ? u.src(0).src(0) : u.src(0);
    return !place.is(Op::After) || closed_ranges(place.src(1)).empty();
  }

  RangeSet outputs_, lanes_;
  FlatMap<const Node*, std::int64_t> uses_;
  NodeSet stored_, loaded_, held_;
};

class Finder {
 public:
  Finder(std::span<const UOp> order, std::span<const std::int64_t> loops)
      : order_(order), loops_(loops), facts_(order, loops) {}

  std::vector<RareSide> run() {
    std::vector<RareSide> sides = candidates();
    keep_dear_and_disjoint(sides);
    if (!find_levels(sides)) return {};
    sides = by_levels(sides);
    // Of a choice that is inside of another one by the same condition, the levels are two.
    keep_dear_and_disjoint(sides);
    return sides;
  }

 private:
  std::vector<RareSide> candidates() const {
    std::vector<RareSide> result;
    for (UOp u : order_) {
      if (!u.is(Op::Where) || !facts_.follows_memory(u.src(0))) continue;
      const bool varies_alike = u.ranges() == u.src(0).ranges() || facts_.is_for_all_lanes(u);
      if (!varies_alike || !facts_.stands_where_it_varies(u)) continue;
      for (int source : {1, 2}) side_of(result, u, source).choices.push_back(u);
    }
    return result;
  }

  // That of choices by the same condition, for the same turns of the loops.
  static RareSide& side_of(std::vector<RareSide>& sides, UOp choice, int source) {
    const auto known = std::ranges::find_if(sides, [&](const RareSide& side) {
      return side.condition == choice.src(0) && side.source == source &&
             side.choices[0].ranges() == choice.ranges();
    });
    if (known != sides.end()) return *known;
    sides.push_back({.condition = choice.src(0), .source = source});
    return sides.back();
  }

  void keep_dear(std::vector<RareSide>& sides) const {
    for (RareSide& side : sides) find_work(side);
    std::erase_if(sides, [](const RareSide& side) { return side.cost < least_work; });
  }

  void keep_dear_and_disjoint(std::vector<RareSide>& sides) const {
    keep_dear(sides);
    std::ranges::stable_sort(sides, std::greater(), &RareSide::cost);
    keep_disjoint(sides);
  }

  void find_work(RareSide& side) const {
    side.work.clear();
    side.cost = 0;
    FlatMap<const Node*, std::int64_t> found;
    const RangeSet ranges = side.choices[0].ranges();
    const bool is_for_all = facts_.is_for_all_lanes(side.choices[0]);
    const auto use = [&](UOp u) {
      const bool is_last = ++*found.insert(u.node(), 0).first == facts_.uses_of(u);
      const bool varies_alike = is_for_all ? facts_.varies_over(u, ranges) : u.ranges() == ranges;
      const bool is_by_lanes =
          is_elementwise(u.op()) || u.is(Op::Lookup) || (is_for_all && facts_.is_of_vectors(u));
      if (is_last && varies_alike && is_by_lanes) side.work.push_back(u);
    };
    for (UOp choice : side.choices) use(choice.src(side.source));
    for (std::size_t i = 0; i < side.work.size(); i++) {
      side.cost += cost_of(side.work[i]);
      for (UOp s : side.work[i].sources()) use(s);
    }
    std::erase_if(side.choices, [&](UOp choice) {
      return std::ranges::find(side.work, choice.src(side.source)) == side.work.end();
    });
  }

  // A side inside of another one stays there.
  static void keep_disjoint(std::vector<RareSide>& sides) {
    NodeSet taken;
    const auto is_taken = [&](UOp u) { return taken.contains(u.node()); };
    std::erase_if(sides, [&](const RareSide& side) {
      if (std::ranges::any_of(side.work, is_taken) || std::ranges::any_of(side.choices, is_taken))
        return true;
      for (UOp u : side.work) taken.insert(u.node());
      for (UOp u : side.choices) taken.insert(u.node());
      return false;
    });
  }

  // ---- levels ----

  // Of all nodes; false if they do not settle.  A loop that ends raises what has been passed, so
  // there are several rounds, of which each but the last one raises a loop.
  bool find_levels(std::span<const RareSide> sides) {
    NodeSet choices;
    for (const RareSide& side : sides) {
      for (UOp u : side.choices) choices.insert(u.node());
    }
    for (std::int64_t round = 0; round <= choices.size() * RangeSet::capacity; round++) {
      if (!raise_levels(choices)) return true;
    }
    return false;
  }

  bool raise_levels(const NodeSet& choices) {
    bool is_raised = false;
    for (UOp u : order_) {
      std::int64_t level = 0;
      for (UOp s : u.sources()) level = std::max({level, *levels_.find(s.node()), level_behind(s)});
      if (choices.contains(u.node())) level++;
      *levels_.insert(u.node(), 0).first = level;
      if (!is_write(u)) continue;
      for (UOp r : closed_ranges(u)) {
        if (!is_inner_loop(r)) continue;
        std::int64_t& of_loop = *loop_levels_.insert(r.range_id(), 0).first;
        is_raised = is_raised || level > of_loop;
        of_loop = std::max(of_loop, level);
      }
    }
    return is_raised;
  }

  // Of the loops that a store ends.
  std::int64_t level_behind(UOp store) const {
    std::int64_t level = 0;
    if (!is_write(store)) return level;
    for (UOp r : closed_ranges(store)) {
      if (const std::int64_t* known = loop_levels_.find(r.range_id()))
        level = std::max(level, *known);
    }
    return level;
  }

  bool is_inner_loop(UOp range) const {
    if (!range.is(Op::Range) || is_one_of(range, loops_)) return false;
    const LoopKind kind = range.loop_kind();
    return kind == LoopKind::Loop || kind == LoopKind::Reduce || kind == LoopKind::Serial;
  }

  std::vector<RareSide> by_levels(std::span<const RareSide> sides) const {
    std::vector<RareSide> result;
    for (const RareSide& side : sides) {
      FlatMap<std::int64_t, std::size_t> place;
      for (UOp choice : side.choices) {
        const auto [at, is_new] = place.insert(*levels_.find(choice.node()), result.size());
        if (is_new) result.push_back({.condition = side.condition, .source = side.source});
        result[*at].choices.push_back(choice);
      }
    }
    return result;
  }

  std::span<const UOp> order_;
  std::span<const std::int64_t> loops_;
  Facts facts_;
  FlatMap<const Node*, std::int64_t> levels_;
  FlatMap<std::int64_t, std::int64_t> loop_levels_;
};

}  // namespace

std::vector<RareSide> rare_sides(std::span<const UOp> order, std::span<const std::int64_t> loops) {
  return Finder(order, loops).run();
}

}  // namespace croze
