// masked_parts.cpp -- cuts a loop where its mask begins to be open for all, and where it ceases to.
#include "croze/codegen/lower/masked_parts.h"

#include <algorithm>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/codegen/lower/masked_turns.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

// The loops around the reduction that a whole tile sees alike.
RangeSet loops_in_common(UOp reduce, std::span<const UOp> order) {
  RangeSet varying;
  for (UOp u : order) {
    if (!u.is(Op::Range)) continue;
    const LoopKind kind = u.loop_kind();
    const bool varies =
        kind == LoopKind::Lane || kind == LoopKind::Unroll || kind == LoopKind::Item;
    if (varies) varying = varying | u.ranges();
  }
  return reduce.ranges() - varying;
}

// Whether there can be several loops in its place: nothing else is done in it that has loops of its
// own.
bool is_loop_of(UOp loop, UOp reduce, std::span<const UOp> order) {
  if (turns_filled_ahead(order).contains(loop.range_id())) return false;
  return std::ranges::none_of(order, [&](UOp u) {
    const bool has_loops = u.first_closed() < u.num_src();
    return u != reduce && has_loops && (closes(u, loop) || u.varies_over(loop));
  });
}

}  // namespace

std::vector<MaskedPart> parts_by_mask(UOp reduce, std::span<const UOp> order,
                                      std::int64_t& next_range) {
  const UOp mask = mask_of_terms(reduce);
  if (!mask || next_range + 3 > RangeSet::capacity) return {};
  std::vector<UOp> loops = closed_ranges(reduce);
  std::erase_if(loops, [](UOp r) { return r.loop_kind() != LoopKind::Reduce; });
  if (loops.size() != 1 || !is_loop_of(loops[0], reduce, order)) return {};
  const UOp loop = loops[0], all = loop.trip_count();
  Graph& g = loop.graph();

  MaskedTurns turns;
  const RangeSet known = loops_in_common(reduce, order);
  for (UOp c : conjuncts(mask)) {
    if (!compares_indices(c) || !is_settled(c, order)) return {};
    turns = both(turns, turns_of_mask(c, loop, known, Open::Everywhere));
  }
  const bool is_never_open = turns.end && turns.end.hi() <= 0;
  if (is_never_open || (!turns.first && !turns.end)) return {};
  const UOp first = clamped(turns.first, loop, g.index(0));
  const UOp end = first + turns_between(first, clamped(turns.end, loop, all));
  std::vector<MaskedPart> parts;
  const auto add = [&](UOp from, UOp to, bool is_open) {
    const UOp trip = turns_between(from, to);
    if (trip.is_const(0)) return;
    const std::int64_t arg[] = {next_range++, loop.range_size(),
                                static_cast<std::int64_t>(LoopKind::Reduce)};
    const UOp part = g.make(Op::Range, DType::Index, {trip}, Arg(std::span(arg)));
    parts.push_back({part, from, is_open});
  };
  add(g.index(0), first, false);
  add(first, end, true);
  add(end, all, false);
  return parts;
}

}  // namespace croze
