// reduction.cpp -- edits that change the form of a reduction or the size of a loop.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/edits/kernel_state.h"
#include "graph/eval.h"
#include "graph/rewrite.h"

namespace croze {
namespace {

UOp gated(UOp gate, UOp condition) { return gate ? gate & condition : condition; }

// The access with `condition` added to its gate.
UOp gated_place(UOp place, UOp condition) {
  Graph& g = place.graph();
  const UOp gate = place.num_src() > 2 ? place.src(2) : UOp();
  return g.place(place.src(0), place.src(1), gated(gate, condition));
}

}  // namespace

SplitRange split_reduction(KernelState& k, UOp range, std::int64_t inner_size) {
  Graph& g = k.graph();
  SplitRange parts = split(k, range, inner_size);
  if (!parts.inner.is(Op::Range)) return parts;
  const std::vector<UOp> all = reduces(k.sink);
  std::vector<std::pair<UOp, UOp>> replacements;
  for (UOp u : all) {
    const std::vector<UOp> closed = closed_ranges(u);
    if (std::find(closed.begin(), closed.end(), parts.inner) == closed.end()) continue;
    std::vector<UOp> rest;
    for (UOp r : closed) {
      if (r != parts.inner) rest.push_back(r);
    }
    const UOp partial = g.reduce(u.reduce_op(), u.src(0), rest);
    replacements.emplace_back(u, g.reduce(u.reduce_op(), partial, std::span(&parts.inner, 1)));
  }
  ensure(!replacements.empty(), "no reduction closes range {}", range.range_id());
  k.sink = substitute(k.sink, replacements);
  k.applied.push_back(fmt::format("split_reduction r{} by {}", range.range_id(), inner_size));
  return parts;
}

UOp pad(KernelState& k, UOp range, std::int64_t multiple) {
  Graph& g = k.graph();
  const std::int64_t size = range.range_size();
  const std::int64_t padded = (size + multiple - 1) / multiple * multiple;
  if (padded == size) return range;
  const UOp wide = g.range(k.next_range++, padded, range.loop_kind());
  replace_ranges(k, {{range, wide}});
  const UOp exists = less(wide, size);
  std::vector<std::pair<UOp, UOp>> replacements;
  for (UOp u : toposort(k.sink)) {
    if (u.is(Op::Index) && u.src(1).varies_over(wide)) {
      replacements.emplace_back(u, gated_place(u, exists));
    }
  }
  k.sink = substitute(k.sink, replacements);
  replacements.clear();
  for (UOp u : reduces(k.sink)) {
    const std::vector<UOp> closed = closed_ranges(u);
    if (std::find(closed.begin(), closed.end(), wide) == closed.end()) continue;
    const UOp identity = g.constant_bits(u.dtype(), identity_of(u.reduce_op(), u.dtype()));
    replacements.emplace_back(u, g.reduce(u.reduce_op(), where(exists, u.src(0), identity), closed));
  }
  k.sink = substitute(k.sink, replacements);
  k.applied.push_back(fmt::format("pad r{} {} to {}", range.range_id(), size, padded));
  return wide;
}

}  // namespace croze
