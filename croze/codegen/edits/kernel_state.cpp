// kernel_state.cpp -- replacing ranges, and the edits that are nothing more than that.
#include "codegen/edits/kernel_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "base/error.h"
#include "graph/index_form.h"
#include "graph/rewrite.h"

namespace croze {
namespace {

// The ranges of an expression that replaces one range, in order of stride, outermost first.
void ranges_in(UOp e, std::vector<UOp>& out) {
  if (e.is(Op::Range)) {
    out.push_back(e);
    return;
  }
  auto terms = LinearForm::of(e).terms;
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
  for (const Term& t : terms) {
    UOp atom = t.atom;
    while (!atom.is(Op::Range)) atom = atom.src(0);  // m / size and m % size
    out.push_back(atom);
  }
}

// The memory of the tile that a Store fills; null if it does not fill one.
UOp tile_of(UOp store) {
  UOp target = store.src(0).src(0);
  while (target.is(Op::After)) target = target.src(0);
  return target.is(Op::Local) ? target : UOp();
}

using Copies = std::unordered_map<const Node*, UOp>;

UOp rebuilt(UOp u, const Copies& copies) {
  const int closed = first_closed(u.op());
  bool changed = false;
  std::vector<UOp> src;
  for (int i = 0; i < u.num_src(); i++) {
    const UOp s = copies.at(u.src(i).node());
    changed = changed || s != u.src(i);
    if (i < closed) {
      src.push_back(s);
    } else if (s.is(Op::Range)) {
      if (std::find(src.begin() + closed, src.end(), s) == src.end()) src.push_back(s);
    } else {
      std::vector<UOp> parts;
      ranges_in(s, parts);
      for (UOp p : parts) {
        if (std::find(src.begin() + closed, src.end(), p) == src.end()) src.push_back(p);
      }
    }
  }
  if (!changed) return u;
  if (u.is(Op::Reduce) && static_cast<int>(src.size()) == closed) return src[0];
  return u.graph().with_sources(u, src);
}

}  // namespace

std::vector<UOp> closed_ranges(UOp u) {
  std::vector<UOp> result;
  for (int i = first_closed(u.op()); i < u.num_src(); i++) result.push_back(u.src(i));
  return result;
}

std::vector<UOp> reduces(UOp sink) {
  std::vector<UOp> result;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Reduce)) result.push_back(u);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<UOp> loads(UOp root) {
  std::vector<UOp> result;
  for (UOp u : toposort(root)) {
    if (u.is(Op::Load)) result.push_back(u);
  }
  return result;
}

std::int64_t iterations(std::span<const UOp> ranges) {
  std::int64_t n = 1;
  for (UOp r : ranges) n *= r.range_size();
  return n;
}

bool can_stand_around_tile(LoopKind kind, Space space) {
  switch (kind) {
    case LoopKind::Lane:
    case LoopKind::Unroll: return false;
    case LoopKind::Item: return space == Space::Thread;
    default: return true;
  }
}

KernelState::KernelState(UOp kernel) : sink(kernel) {
  for (UOp store : sink.sources()) {
    for (UOp r : closed_ranges(store)) {
      if (std::find(loops.begin(), loops.end(), r) == loops.end()) loops.push_back(r);
    }
  }
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) next_range = std::max(next_range, u.range_id() + 1);
  }
}

void replace_ranges(KernelState& k, const RangeMap& map) {
  Copies copies;
  for (const auto& [range, expression] : map) copies[range.node()] = expression;
  for (UOp u : toposort(k.sink)) {
    if (!copies.contains(u.node())) copies[u.node()] = rebuilt(u, copies);
  }
  k.sink = copies.at(k.sink.node());
  std::vector<UOp> loops;
  for (UOp r : k.loops) {
    auto it = std::find_if(map.begin(), map.end(), [&](const auto& m) { return m.first == r; });
    std::vector<UOp> parts{r};
    if (it != map.end()) {
      parts.clear();
      ranges_in(it->second, parts);
    }
    for (UOp p : parts) {
      if (std::find(loops.begin(), loops.end(), p) == loops.end()) loops.push_back(p);
    }
  }
  k.loops = std::move(loops);
}

SplitRange split(KernelState& k, UOp range, std::int64_t inner_size) {
  Graph& g = k.graph();
  const std::int64_t size = range.range_size();
  ensure(inner_size >= 1 && size % inner_size == 0, "a loop of {} cannot be split by {}", size,
         inner_size);
  if (inner_size == 1) return {range, g.index(0)};
  if (inner_size == size) return {g.index(0), range};
  const UOp outer = g.range(k.next_range++, size / inner_size, range.loop_kind());
  const UOp inner = g.range(k.next_range++, inner_size, range.loop_kind());
  replace_ranges(k, {{range, outer * inner_size + inner}});
  k.applied.push_back(
      fmt::format("split r{} {} x {}", range.range_id(), size / inner_size, inner_size));
  return {outer, inner};
}

UOp merge(KernelState& k, UOp outer, UOp inner) {
  const std::int64_t size = inner.range_size();
  const UOp m = k.graph().range(k.next_range++, outer.range_size() * size, outer.loop_kind());
  replace_ranges(k, {{outer, m / size}, {inner, m % size}});
  k.applied.push_back(fmt::format("merge r{} r{}", outer.range_id(), inner.range_id()));
  return m;
}

UOp bind(KernelState& k, UOp range, LoopKind kind) {
  ensure(!is_serial(range), "the iterations of loop r{} must stay in order", range.range_id());
  for (UOp u : toposort(k.sink)) {
    if (!u.is(Op::Store) || !u.varies_over(range) || !tile_of(u)) continue;
    ensure(can_stand_around_tile(kind, static_cast<Space>(tile_of(u).arg().ints[2])),
           "a tile is filled inside of loop r{}", range.range_id());
  }
  const UOp bound = k.graph().range(range.range_id(), range.range_size(), kind);
  replace_ranges(k, {{range, bound}});
  k.applied.push_back(fmt::format("bind r{} {}", range.range_id(), name_of(kind)));
  return bound;
}

void reorder(KernelState& k, std::span<const UOp> order) {
  ensure(order.size() == k.loops.size() &&
             std::is_permutation(order.begin(), order.end(), k.loops.begin()),
         "a new order of loops must name each loop once");
  auto serial = std::views::filter(is_serial);
  ensure(std::ranges::equal(order | serial, k.loops | serial),
         "loops whose iterations must stay in order cannot change places");
  k.loops.assign(order.begin(), order.end());
}

}  // namespace croze
