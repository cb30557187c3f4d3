// kernel_state.cpp -- replacing ranges, and what edits ask of a kernel.
#include "croze/codegen/edits/kernel_state.h"

#include <algorithm>
#include <unordered_map>

#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

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
    if (atom.is(Op::Variable)) continue;
    while (!atom.is(Op::Range)) atom = atom.src(0);  // m / size and m % size
    out.push_back(atom);
  }
}

using Copies = std::unordered_map<const Node*, UOp>;

UOp rebuilt(UOp u, const Copies& copies) {
  const int closed = u.first_closed();
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
  for (int i = u.first_closed(); i < u.num_src(); i++) result.push_back(u.src(i));
  return result;
}

bool closes(UOp u, UOp range) {
  for (int i = u.first_closed(); i < u.num_src(); i++) {
    if (u.src(i) == range) return true;
  }
  return false;
}

int stores_in(UOp sink, UOp range) {
  int count = 0;
  for (UOp store : sink.sources()) count += closes(store, range);
  return count;
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
  for (UOp r : ranges) {
    if (__builtin_mul_overflow(n, r.range_size(), &n)) return INT64_MAX;
  }
  return n;
}

bool turn_alike(UOp a, UOp b) {
  if (a.is_open() || b.is_open()) return a.trip_count() == b.trip_count();
  return a.range_size() == b.range_size();
}

UOp range_divided_by(KernelState& k, UOp range, std::int64_t by) {
  const std::int64_t id = k.next_range++;
  if (range.is_open()) return k.graph().range(id, range.trip_count() / by, range.loop_kind());
  return k.graph().range(id, range.range_size() / by, range.loop_kind());
}

bool loads_what_it_stores(UOp sink) {
  std::vector<UOp> stored;
  for (UOp u : sink.sources()) stored.push_back(u.src(0).src(0));
  return std::ranges::any_of(loads(sink), [&](UOp load) {
    return std::ranges::find(stored, load.src(0).src(0)) != stored.end();
  });
}

UOp tile_of(UOp store) {
  UOp target = store.src(0).src(0);
  while (target.is(Op::After)) target = target.src(0);
  return target.is(Op::Local) ? target : UOp();
}

Space space_of_tile(UOp tile) { return static_cast<Space>(tile.arg().ints[2]); }

std::int64_t bytes_of_tile(UOp tile) { return tile.elements() * size_of(tile.dtype()); }

bool can_stand_around_tile(LoopKind kind, Space space) {
  switch (kind) {
    case LoopKind::Lane:
    case LoopKind::Unroll:
    case LoopKind::Depth: return false;
    case LoopKind::Item: return space == Space::Thread;
    default: return true;
  }
}

KernelState::KernelState(UOp kernel, const Caps& caps) : sink(kernel), caps_(&caps) {
  for (UOp store : sink.sources()) {
    for (UOp r : closed_ranges(store)) {
      if (std::find(loops.begin(), loops.end(), r) == loops.end()) loops.push_back(r);
    }
  }
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) next_range = std::max(next_range, u.range_id() + 1);
  }
}

void replace_sink(KernelState& k, UOp sink) {
  k.sink = sink;
  for (UOp u : toposort(sink)) {
    if (!u.is_open()) continue;
    const auto loop = std::ranges::find(k.loops, u.range_id(), &UOp::range_id);
    if (loop != k.loops.end()) *loop = u;
  }
}

std::vector<UOp> items_of(const KernelState& k) {
  std::vector<UOp> items;
  std::ranges::copy_if(k.loops, std::back_inserter(items),
                       [](UOp r) { return r.loop_kind() == LoopKind::Item; });
  return items;
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

}  // namespace croze
