// reduction.cpp -- edits that change the form of a reduction or the size of a loop.
#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/edits/note.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/eval.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

UOp gated(UOp gate, UOp condition) { return gate ? gate & condition : condition; }

// The access with `condition` added to its gate.
UOp gated_place(UOp place, UOp condition) {
  Graph& g = place.graph();
  const UOp gate = place.num_src() > 2 ? place.src(2) : UOp();
  return g.place(place.src(0), place.src(1), gated(gate, condition));
}

// Whether the access may go ahead where the range has grown: its own gate keeps it in the buffer.
// What it reads there is not used.
bool stays_inside(UOp place) {
  if (place.num_src() < 3) return false;
  const Bounds b = bounds_under(place.src(2), place.src(1));
  return b.lo >= 0 && b.hi < place.src(0).least_elements();
}

// Its index may have been simplified under a gate that alone varies over the range.
bool needs_gate(UOp place, UOp range) { return place.varies_over(range) && !stays_inside(place); }

// `sink` with every load that varies over `range`, and every store inside of it, gated by `exists`,
// and every reduction over it of its identity elsewhere.  An index may itself be loaded, so sources
// are rebuilt before users.
UOp guarded(UOp sink, UOp range, UOp exists) {
  Graph& g = sink.graph();
  NodeMap<UOp> copies(g);
  std::vector<UOp> src;
  for (UOp u : toposort(sink)) {
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies.get(s));
    const std::vector<UOp> closed = closed_ranges(u);
    if (u.is(Op::Reduce) && std::find(closed.begin(), closed.end(), range) != closed.end()) {
      const UOp identity = g.constant_bits(u.dtype(), identity_of(u.reduce_op(), u.dtype()));
      src[0] = where(exists, src[0], identity);
    }
    const UOp copy = u.num_src() == 0 ? u : g.with_sources(u, src);
    copies.set(u, copy);
    if (u.is(Op::Load) && needs_gate(u.src(0), range)) {
      copies.set(u, g.load(gated_place(copy.src(0), exists)));
    } else if (u.is(Op::Store) && closes(u, range)) {
      src[0] = gated_place(src[0], exists);
      copies.set(u, g.with_sources(u, src));
    }
  }
  return copies.get(sink);
}

}  // namespace

SplitRange split_reduction(KernelState& k, UOp range, std::int64_t inner_size) {
  Graph& g = k.graph();
  if (inner_size == 1) return {range, g.index(0)};
  note(k, {.kind = EditKind::SplitReduction, .ranges = {range.range_id()}, .size = inner_size});
  const bool whole = inner_size == range.range_size() && !range.is_open();
  const SplitRange parts =
      whole ? SplitRange{g.index(0), range} : split_in_two(k, range, inner_size);
  std::vector<std::pair<UOp, UOp>> replacements;
  for (UOp u : reduces(k.sink)) {
    const std::vector<UOp> closed = closed_ranges(u);
    if (std::find(closed.begin(), closed.end(), parts.inner) == closed.end()) continue;
    std::vector<UOp> rest;
    for (UOp r : closed) {
      if (r != parts.inner) rest.push_back(r);
    }
    const UOp partial = g.reduce(u.reduce_op(), u.src(0), rest);
    replacements.emplace_back(u, g.reduce(u.reduce_op(), partial, std::span(&parts.inner, 1)));
  }
  k.sink = substitute(k.sink, replacements);
  return parts;
}

UOp pad(KernelState& k, UOp range, std::int64_t multiple) {
  Graph& g = k.graph();
  if (range.trip_divisor() % multiple == 0) return range;
  note(k, {.kind = EditKind::Pad, .ranges = {range.range_id()}, .size = multiple});
  const UOp size = range.trip_count(), padded = (size + (multiple - 1)) / multiple * multiple;
  const UOp wide = g.range(k.next_range++, padded, range.loop_kind());
  replace_ranges(k, {{range, wide}});
  k.sink = guarded(k.sink, wide, less(wide, size));
  return wide;
}

}  // namespace croze
