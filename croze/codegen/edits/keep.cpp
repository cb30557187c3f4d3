// keep.cpp -- what two loops compute alike is computed by a loop of its own, into a tile.
//
//     s = reduce add exp(x[i] - m), i
//     out[j] = exp(x[j] - m) / s
// takes each exponential twice.  Kept over i and j it becomes
//     tile[k] = exp(x[k] - m), for all k
//     s = reduce add tile[i], i
//     out[j] = tile[j] / s
#include "croze/codegen/edits/keep.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "croze/codegen/edits/copied_loops.h"
#include "croze/codegen/edits/note.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// A node of a kernel, and what it is over the other loop.
class Sharing {
 public:
  Sharing(UOp sink, UOp first, UOp second)
      : first_(first), second_(second), order_(toposort(sink)) {
    // Operands may stand in another order than they would be put in today: what is compared is
    // built anew.
    std::unordered_map<const Node*, UOp> originals, renamed, rebuilt;
    std::vector<std::pair<UOp, UOp>> over_second;
    for (UOp u : order_) {
      rebuilt[u.node()] = built_from(u, rebuilt);
      originals.try_emplace(rebuilt.at(u.node()).node(), u);
      renamed[u.node()] = u == first ? second : built_from(u, renamed);
      if (renamed.at(u.node()) == rebuilt.at(u.node())) continue;
      over_second.emplace_back(u, renamed.at(u.node()));
    }
    for (const auto& [u, copy] : over_second) {
      const auto twin = originals.find(copy.node());
      if (twin != originals.end()) twins_[u.node()] = twin->second;
    }
  }

  std::vector<SharedValue> largest(const std::vector<UOp>& around) const {
    std::unordered_set<const Node*> wanted;  // by something that is not shared itself
    for (UOp u : order_) {
      if (twins_.contains(u.node())) continue;
      for (UOp s : u.sources()) wanted.insert(s.node());
    }
    std::vector<SharedValue> result;
    for (UOp u : order_) {
      if (!wanted.contains(u.node()) || !is_worth_a_tile(u) || !is_one_row(u, around)) continue;
      result.push_back({u, twins_.at(u.node())});
    }
    return result;
  }

 private:
  static UOp built_from(UOp u, const std::unordered_map<const Node*, UOp>& sources) {
    if (u.num_src() == 0) return u;
    std::vector<UOp> src;
    for (UOp s : u.sources()) src.push_back(sources.at(s.node()));
    return u.graph().with_sources(u, src);
  }

  bool is_worth_a_tile(UOp u) const {
    return twins_.contains(u.node()) && !u.varies_over(second_) && is_elementwise(u.op()) &&
           u.dtype() != DType::Index && u.dtype() != DType::Bool;
  }

  // One number for each value of the loop, and none of a tile that is filled for it.
  bool is_one_row(UOp u, const std::vector<UOp>& around) const {
    for (UOp part : toposort(u)) {
      if (part.is(Op::Local)) return false;
    }
    RangeSet others = u.ranges() - first_.ranges();
    for (UOp r : around) others = others - r.ranges();
    return others.empty();
  }

  UOp first_, second_;
  std::vector<UOp> order_;
  std::unordered_map<const Node*, UOp> twins_;
};

// The expression at a position of the tile, without loads where that is beyond the loop.
UOp at_position(UOp value, UOp range, UOp position, UOp inside) {
  Graph& g = value.graph();
  NodeMap<UOp> copies(g);
  copies.set(range, position);
  std::vector<UOp> src;
  for (UOp u : toposort(value)) {
    if (u == range) continue;
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies.get(s));
    UOp copy = u.varies_over(range) ? g.with_sources(u, src) : u;
    if (inside && u.is(Op::Load) && u.varies_over(range)) {
      const UOp place = copy.src(0);
      const UOp gate = place.num_src() > 2 ? place.src(2) & inside : inside;
      copy = g.load(g.place(place.src(0), place.src(1), gate));
    }
    copies.set(u, copy);
  }
  return copies.get(value);
}

}  // namespace

std::vector<UOp> loops_with_copies(UOp value) {
  std::vector<UOp> result;
  for (UOp u : toposort(value)) {
    const bool is_unrolled = u.is(Op::Range) && u.loop_kind() == LoopKind::Unroll;
    if (is_unrolled && value.varies_over(u)) result.push_back(u);
  }
  return result;
}

std::vector<SharedValue> shared_values(UOp sink, UOp first, UOp second,
                                       const std::vector<UOp>& around) {
  return Sharing(sink, first, second).largest(around);
}

std::int64_t kept_bytes(const std::vector<SharedValue>& values, std::int64_t size) {
  constexpr std::int64_t too_many = std::int64_t{1} << 48;
  if (size > too_many) return too_many;
  std::int64_t bytes = 0;
  for (const SharedValue& v : values) {
    const std::int64_t row = size * size_of(v.over_first.dtype());
    const std::int64_t rows = iterations(loops_with_copies(v.over_first));
    bytes = rows > (too_many - bytes) / row ? too_many : bytes + rows * row;
  }
  return bytes;
}

void keep(KernelState& k, UOp first, UOp second, std::int64_t lanes) {
  note(k, {.kind = EditKind::Keep, .ranges = {first.range_id(), second.range_id()}, .size = lanes});
  Graph& g = k.graph();
  const std::int64_t most_turns = (first.range_size() + lanes - 1) / lanes;
  const UOp size = first.trip_count(), turns = (size + (lanes - 1)) / lanes;
  std::vector<std::pair<UOp, UOp>> replacements;
  for (const SharedValue& v : shared_values(k.sink, first, second, k.loops)) {
    std::vector<UOp> loops;
    UOp position = g.index(0);
    if (!turns.is_const(1)) {
      loops.push_back(g.range(k.next_range++, turns, LoopKind::Loop));
      position = loops[0] * lanes;
    }
    if (lanes > 1) {
      loops.push_back(g.range(k.next_range++, lanes, LoopKind::Lane));
      position = position + loops.back();
    }
    const UOp inside = first.trip_divisor() % lanes == 0 ? UOp() : less(position, size);
    const UOp value = at_position(v.over_first, first, position, inside);
    const std::vector<UOp> copied = loops_with_copies(value);
    const std::int64_t row_size = most_turns * lanes;
    UOp row = g.index(0);
    for (UOp r : copied) row = row * r.range_size() + r;
    row = row * row_size;
    const UOp tile =
        g.local(value.dtype(), k.next_local++, iterations(copied) * row_size, Space::Thread);
    const UOp filled = g.store(g.place(tile, row + position), value, loops);
    const UOp after = g.after(tile, std::span(&filled, 1));
    replacements.emplace_back(v.over_first, g.load(g.place(after, row + first)));
    replacements.emplace_back(v.over_second, g.load(g.place(after, row + second)));
  }
  k.sink = substitute(k.sink, replacements);
}

}  // namespace croze
