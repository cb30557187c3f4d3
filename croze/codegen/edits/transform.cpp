// transform.cpp -- edits from data, and those that do little more than replace ranges.
#include "croze/codegen/edits/transform.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/note.h"
#include "croze/codegen/simplify.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

std::vector<std::int64_t> ids_of(std::span<const UOp> ranges) {
  std::vector<std::int64_t> ids;
  for (UOp r : ranges) ids.push_back(r.range_id());
  return ids;
}

}  // namespace

void note(KernelState& k, const Edit& edit) {
  const std::string why = refusal(k, edit);
  ensure(why.empty(), "edit '{}' is refused: {}", to_text(edit), why);
  k.applied.push_back(edit);
}

void apply(KernelState& k, const Edit& edit) {
  const Legality legality(k);
  const std::string why = legality.refusal(edit);
  ensure(why.empty(), "edit '{}' is refused: {}", to_text(edit), why);
  std::vector<UOp> r;
  for (std::int64_t id : edit.ranges) r.push_back(legality.range(id));
  switch (edit.kind) {
    case EditKind::Split: split(k, r[0], edit.size); return;
    case EditKind::SplitOverlapping: split_overlapping(k, r[0], edit.size); return;
    case EditKind::Merge: merge(k, r[0], r[1]); return;
    case EditKind::Pad: pad(k, r[0], edit.size); return;
    case EditKind::SplitReduction: split_reduction(k, r[0], edit.size); return;
    case EditKind::Bind: bind(k, r[0], edit.loop); return;
    case EditKind::Reorder: reorder(k, r); return;
    case EditKind::Share: {
      const std::size_t half = r.size() / 2;
      share(k, std::span(r).first(half), std::span(r).last(half));
      return;
    }
    case EditKind::OnePass: one_pass(k, r, edit.size); return;
    case EditKind::Keep: keep(k, r[0], r[1], edit.size); return;
    case EditKind::Tabulate: tabulate(k, r, edit.size); return;
    case EditKind::Panel: panel(k, r); return;
    case EditKind::Accumulate: accumulate(k, r[0], std::span(r).subspan(1), edit.size); return;
    case EditKind::Contract:
      if (is_of_wave(k.caps(), edit.size)) {
        contract(k, r[0], r[1], r[2], edit.size);
      } else {
        contract(k, r[0], std::span(r).subspan(1), edit.size);
      }
      return;
    case EditKind::Stage: {
      const UOp load = legality.loads()[static_cast<std::size_t>(edit.load)];
      stage(k, load, r, edit.space, edit.size);
      return;
    }
    case EditKind::Simplify: simplify(k); return;
    case EditKind::FillAhead: fill_ahead(k, r[0], edit.size); return;
  }
}

void apply_all(KernelState& k, std::span<const Edit> edits) {
  for (const Edit& edit : edits) {
    const std::string why = refusal(k, edit);
    check(why.empty(), "the kernel does not take the edit '{}': {}", to_text(edit), why);
    apply(k, edit);
  }
}

bool try_apply_all(KernelState& k, std::span<const Edit> edits) {
  return std::ranges::all_of(edits, [&](const Edit& edit) {
    if (!is_legal(k, edit)) return false;
    apply(k, edit);
    return true;
  });
}

SplitRange split(KernelState& k, UOp range, std::int64_t inner_size) {
  Graph& g = k.graph();
  if (inner_size == 1) return {range, g.index(0)};
  if (inner_size == range.range_size() && !range.is_open()) return {g.index(0), range};
  note(k, {.kind = EditKind::Split, .ranges = {range.range_id()}, .size = inner_size});
  return split_in_two(k, range, inner_size);
}

SplitRange split_in_two(KernelState& k, UOp range, std::int64_t inner_size) {
  Graph& g = k.graph();
  const UOp outer = range_divided_by(k, range, inner_size);
  const UOp inner = g.range(k.next_range++, inner_size, range.loop_kind());
  replace_ranges(k, {{range, outer * inner_size + inner}});
  return {outer, inner};
}

SplitRange split_overlapping(KernelState& k, UOp range, std::int64_t inner_size) {
  const std::int64_t size = range.range_size();
  if (size % inner_size == 0) return split(k, range, inner_size);
  Graph& g = k.graph();
  note(k, {.kind = EditKind::SplitOverlapping, .ranges = {range.range_id()}, .size = inner_size});
  const UOp outer = g.range(k.next_range++, size / inner_size + 1, range.loop_kind());
  const UOp inner = g.range(k.next_range++, inner_size, range.loop_kind());
  const UOp begin = min(outer * inner_size, g.index(size - inner_size));
  replace_ranges(k, {{range, begin + inner}});
  return {outer, inner};
}

std::vector<UOp> index_uses(UOp sink) {
  std::vector<UOp> uses;
  for (UOp u : toposort(sink)) {
    if (u.dtype() == DType::Index) continue;
    const int closed = u.first_closed();
    for (int i = 0; i < std::min(closed, u.num_src()); i++) {
      if (u.src(i).dtype() == DType::Index) uses.push_back(u.src(i));
    }
  }
  return uses;
}

UOp merged_range(const KernelState& k, UOp outer, UOp inner) {
  const UOp trips = outer.trip_count() * inner.trip_count();
  return k.graph().range(k.next_range, Extent(trips), outer.loop_kind());
}

// What it is in the first turn of the outer loop, if the inner one went on, is what it is anywhere:
// that is so if it becomes the same again with the place in both loops put there.
UOp in_merged(UOp use, UOp outer, UOp inner, UOp merged) {
  const UOp none = use.graph().index(0);
  const std::pair<UOp, UOp> first_turn[] = {{outer, none}, {inner, merged}};
  const UOp result = substitute(use, first_turn);
  const std::pair<UOp, UOp> place[] = {{merged, outer * inner.trip_count() + inner}};
  return substitute(result, place) == use ? result : UOp();
}

UOp merge(KernelState& k, UOp outer, UOp inner) {
  note(k, {.kind = EditKind::Merge, .ranges = {outer.range_id(), inner.range_id()}});
  const UOp size = inner.trip_count(), m = merged_range(k, outer, inner);
  k.next_range++;
  RangeMap parts{{outer, m / size}, {inner, m % size}};
  for (UOp use : index_uses(k.sink)) {
    if (!use.varies_over(outer) && !use.varies_over(inner)) continue;
    if (const UOp whole = in_merged(use, outer, inner, m)) parts.emplace_back(use, whole);
  }
  replace_ranges(k, parts);
  return m;
}

UOp bind(KernelState& k, UOp range, LoopKind kind) {
  note(k, {.kind = EditKind::Bind, .ranges = {range.range_id()}, .loop = kind});
  const UOp bound = k.graph().range_of_kind(range, kind);
  replace_ranges(k, {{range, bound}});
  return bound;
}

UOp try_bind(KernelState& k, UOp range, LoopKind kind) {
  const Edit edit{.kind = EditKind::Bind, .ranges = {range.range_id()}, .loop = kind};
  return is_legal(k, edit) ? bind(k, range, kind) : UOp();
}

bool try_fill_ahead(KernelState& k, UOp turn, std::int64_t slots) {
  const Edit edit{.kind = EditKind::FillAhead, .ranges = {turn.range_id()}, .size = slots};
  if (!is_legal(k, edit)) return false;
  fill_ahead(k, turn, slots);
  return true;
}

void reorder(KernelState& k, std::span<const UOp> order) {
  if (std::ranges::equal(order, k.loops)) return;
  note(k, {.kind = EditKind::Reorder, .ranges = ids_of(order)});
  k.loops.assign(order.begin(), order.end());
}

void share(KernelState& k, std::span<const UOp> kept, std::span<const UOp> dropped) {
  std::vector<std::int64_t> ids = ids_of(kept);
  for (UOp r : dropped) ids.push_back(r.range_id());
  note(k, {.kind = EditKind::Share, .ranges = std::move(ids)});
  RangeMap map;
  for (std::size_t i = 0; i < kept.size(); i++) {
    if (kept[i] != dropped[i]) map.emplace_back(dropped[i], kept[i]);
  }
  replace_ranges(k, map);
}

void simplify(KernelState& k) {
  k.applied.push_back({.kind = EditKind::Simplify});
  replace_sink(k, simplify_kernel(k.sink));
}

}  // namespace croze
