// share.cpp -- reductions in one place, of which none waits for another.
#include "croze/codegen/edits/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {
namespace {

bool turns(UOp range) {
  const LoopKind kind = range.loop_kind();
  return kind != LoopKind::Lane && kind != LoopKind::Unroll && kind != LoopKind::Depth;
}

bool contains(const std::vector<UOp>& list, UOp u) {
  return std::ranges::find(list, u) != list.end();
}

// For each node, how many loops of reductions follow each other in what it is computed from.
std::unordered_map<const Node*, int> reduction_levels(std::span<const UOp> order) {
  std::unordered_map<const Node*, int> levels;
  for (UOp u : order) {
    int level = 0;
    for (UOp s : u.sources()) {
      const bool is_loop =
          (s.is(Op::Reduce) || s.is(Op::TupleReduce)) && !turning_ranges(s).empty();
      level = std::max(level, levels.at(s.node()) + (is_loop ? 1 : 0));
    }
    levels[u.node()] = level;
  }
  return levels;
}

// The loops of the program around a node.
RangeSet loops_around(UOp u, std::span<const UOp> order) {
  RangeSet side_by_side;
  for (UOp r : order) {
    if (r.is(Op::Range) && !turns(r)) side_by_side = side_by_side | r.ranges();
  }
  return u.ranges() - side_by_side;
}

// Why one loop would come to be two.
std::string refuse_names(const std::vector<UOp>& kept, const std::vector<UOp>& dropped) {
  if (kept == dropped) return "the reductions share their loops already";
  if (!std::ranges::equal(kept, dropped, turn_alike)) return "the loops have other sizes";
  for (std::size_t i = 0; i < dropped.size(); i++) {
    const bool is_again = std::ranges::count(dropped, dropped[i]) > 1;
    if (is_again || (contains(kept, dropped[i]) && kept[i] != dropped[i])) {
      return fmt::format("loop r{} would be two others", dropped[i].range_id());
    }
  }
  return {};
}

}  // namespace

std::vector<UOp> turning_ranges(UOp u) {
  std::vector<UOp> ranges = closed_ranges(u);
  std::erase_if(ranges, [](UOp r) { return !turns(r); });
  return ranges;
}

std::string refuse_sharing(std::span<const UOp> order, const std::vector<UOp>& kept,
                           const std::vector<UOp>& dropped) {
  if (std::string why = refuse_names(kept, dropped); !why.empty()) return why;
  UOp host;
  for (UOp u : order) {
    if (u.is(Op::Reduce) && turning_ranges(u) == kept) host = u;
  }
  if (!host) return "no reduction has just the loops that are kept";
  const auto is_reduced = [](UOp r) { return r.loop_kind() == LoopKind::Reduce; };
  if (!std::ranges::all_of(kept, is_reduced) || !std::ranges::all_of(dropped, is_reduced))
    return "something has been decided about the loops";
  // They must be of one level: loops that are shared across levels can come to wait for each other.
  const auto levels = reduction_levels(order);
  for (UOp u : order) {
    const std::vector<UOp> closed = turning_ranges(u);
    const bool is_concerned = std::ranges::any_of(
        dropped, [&](UOp r) { return !contains(kept, r) && contains(closed, r); });
    if (!is_concerned) continue;
    if (closed != dropped || loops_around(u, order) != loops_around(host, order) ||
        levels.at(u.node()) != levels.at(host.node())) {
      return "the reductions do not stand in the same place";
    }
  }
  return {};
}

}  // namespace croze
