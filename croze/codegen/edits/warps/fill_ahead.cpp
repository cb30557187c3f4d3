// fill_ahead.cpp -- what later turns read is on its way while this one computes.
//
//     for t in turns:
//       tile = a[t]
//       .. tile ..
// waits in each turn for memory, and two times for all items of the group: until nobody reads the
// tile any more, and until it is filled.  With three slots:
//     for s < 2:
//       tile[s] = a[s]
//     for t in turns:
//       tile[(t + 2) % 3] = a[t + 2]    if there is such a turn
//       .. tile[t % 3] ..
// Here the items meet once, before they fill: then nobody reads any more what was read in the turn
// before, whose slot is filled, and what is read in this turn was filled before.  A device that
// copies on its own (codegen/group_copies.h) has two turns of time for it.
//
// Units that read tiles by themselves (Op::LoadMatrix, of n items) are at work for one turn while
// the items are in the next one, if there are slots enough: what they read in turn t - 1 is filled
// in turn t + 1 and not in turn t.
#include "croze/codegen/edits/warps/fill_ahead.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/codegen/edits/note.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

namespace croze {
namespace {

UOp tile_with_slots(UOp tile, std::int64_t slots, std::int64_t ahead) {
  const auto of = tile.arg().as_ints();
  const std::int64_t arg[] = {of[0], slots * of[1], of[2], slots, ahead};
  const std::size_t words = ahead == slots - 1 ? 4 : 5;
  return tile.graph().make(Op::Local, tile.dtype(), {}, Arg(std::span(arg).first(words)));
}

// Whether units read one of the tiles while the items go on.
bool are_read_behind(std::span<const UOp> fills, std::span<const UOp> nodes) {
  return std::ranges::any_of(nodes, [&](UOp u) {
    return is_read_by_unit(u) && std::ranges::any_of(fills, [&](UOp fill) {
             return tile_of(fill) == buffer_of(u.src(0));
           });
  });
}

// A turn of the loop, and the slot that holds what is for it.
struct Slot {
  UOp turn, number;
};

// The box, at coordinates that are those of another turn, to the place `to`.
UOp box_for(UOp fill, UOp to, std::span<const std::pair<UOp, UOp>> renamed,
            std::span<const UOp> closed) {
  std::vector<UOp> src{to, fill.src(1)};
  for (int i = 2; i < fill.first_closed(); i++) src.push_back(substitute(fill.src(i), renamed));
  src.insert(src.end(), closed.begin(), closed.end());
  return fill.graph().make(Op::CopyBox, DType::Void, src, fill.arg());
}

// The write `fill`, which is what is done in turn `from`, for another turn and into its slot.
UOp fill_for(UOp fill, UOp from, UOp tile, const Slot& slot,
             std::span<const std::pair<UOp, UOp>> loops) {
  Graph& g = fill.graph();
  std::vector<std::pair<UOp, UOp>> renamed(loops.begin(), loops.end());
  renamed.emplace_back(from, slot.turn);
  const UOp there = less(slot.turn, from.trip_count());
  const auto gate_of = [&](UOp place) {
    if (place.num_src() < 3) return there;
    return substitute(place.src(2), renamed) & there;
  };
  const auto place_in = [&](UOp buffer, UOp index, UOp gate) {
    return gate.lo() == 1 ? g.place(buffer, index) : g.place(buffer, index, gate);
  };
  const UOp target = fill.src(0);
  const UOp index = slot.number * target.src(0).elements() + substitute(target.src(1), renamed),
            to = place_in(tile, index, gate_of(target));
  std::vector<UOp> closed;
  if (slot.turn.is(Op::Range)) closed.push_back(slot.turn);
  for (UOp r : closed_ranges(fill)) closed.push_back(substitute(r, renamed));
  if (fill.is(Op::CopyBox)) return box_for(fill, to, renamed, closed);
  const UOp source = fill.src(1).src(0);
  return g.store(
      to, g.load(place_in(source.src(0), substitute(source.src(1), renamed), gate_of(source))),
      closed);
}

// New ranges in the place of those that the fill closes: one loop stands in one place.
std::vector<std::pair<UOp, UOp>> copied_loops(KernelState& k, UOp fill) {
  std::vector<std::pair<UOp, UOp>> copies;
  for (UOp r : closed_ranges(fill)) {
    copies.emplace_back(r, r.is_open()
                               ? k.graph().range(k.next_range++, r.trip_count(), r.loop_kind())
                               : k.graph().range(k.next_range++, r.range_size(), r.loop_kind()));
  }
  return copies;
}

}  // namespace

std::int64_t slots_of(UOp tile) {
  const auto arg = tile.arg().as_ints();
  return arg.size() > 3 ? arg[3] : 1;
}

std::int64_t turns_ahead(UOp tile) {
  const auto arg = tile.arg().as_ints();
  return arg.size() > 4 ? arg[4] : slots_of(tile) - 1;
}

RangeSet turns_of_slots(UOp tile, std::span<const UOp> nodes) {
  RangeSet all, common;
  bool is_first = true;
  for (UOp u : nodes) {
    if (!is_write(u) || buffer_of(u.src(0)) != tile) continue;
    common = is_first ? u.ranges() : common & u.ranges();
    all = all | u.ranges();
    is_first = false;
  }
  return all - common;
}

RangeSet turns_after(UOp write, std::span<const UOp> nodes) {
  const UOp tile = buffer_of(write.src(0));
  if (!tile.is(Op::Local) || slots_of(tile) < 2) return {};
  return turns_of_slots(tile, nodes) - write.ranges();
}

RangeSet turns_filled_ahead(std::span<const UOp> nodes) {
  RangeSet turns;
  for (UOp u : nodes) {
    if (u.is(Op::Local) && slots_of(u) > 1) turns = turns | turns_of_slots(u, nodes);
  }
  return turns;
}

std::vector<UOp> fills_in(UOp turn, std::span<const UOp> nodes) {
  std::vector<UOp> fills;
  std::ranges::copy_if(nodes, std::back_inserter(fills), [&](UOp u) {
    if (!is_write(u) || !u.varies_over(turn)) return false;
    const UOp tile = tile_of(u);
    return tile && space_of_tile(tile) == Space::Group;
  });
  return fills;
}

std::vector<UOp> tiles_of(std::span<const UOp> fills) {
  std::vector<UOp> tiles;
  for (UOp fill : fills) {
    if (std::ranges::find(tiles, tile_of(fill)) == tiles.end()) tiles.push_back(tile_of(fill));
  }
  return tiles;
}

std::string refuse_fill_ahead(UOp turn, std::span<const UOp> nodes,
                              std::span<const UOp> output_loops) {
  const std::vector<UOp> fills = fills_in(turn, nodes);
  if (fills.empty()) {
    return fmt::format("no tile in group memory is filled in loop r{}", turn.range_id());
  }
  for (UOp fill : fills) {
    if (fill.is(Op::CopyBox)) continue;
    const UOp value = fill.src(1);
    if (!value.is(Op::Load) || !value.src(0).src(0).is(Op::Param))
      return "a tile is filled with what is not just loaded";
    for (UOp u : toposort(value.src(0))) {
      if (u.is(Op::Load) && u.varies_over(turn)) return "where a tile is filled from is loaded";
    }
  }
  // Of the turn's loops it is the one in which the tiles are filled: the others stand around it.
  for (UOp u : nodes) {
    if (!closes(u, turn)) continue;
    const std::vector<UOp> closed = closed_ranges(u);
    const auto at = std::ranges::find(closed, turn);
    for (UOp r : nodes) {
      if (!r.is(Op::Range) || r == turn || u.varies_over(r)) continue;
      const bool is_around = std::find(closed.begin(), at, r) != at ||
                             std::ranges::find(output_loops, r) != output_loops.end();
      const bool is_filled_in = std::ranges::any_of(fills, [&](UOp f) { return f.varies_over(r); });
      if (is_filled_in && !is_around) {
        return fmt::format("a tile is filled in loop r{}, inside of it", r.range_id());
      }
    }
  }
  return {};
}

void fill_ahead(KernelState& k, UOp turn, std::int64_t slots) {
  note(k, {.kind = EditKind::FillAhead, .ranges = {turn.range_id()}, .size = slots});
  Graph& g = k.graph();
  const std::vector<UOp> nodes = toposort(k.sink), fills = fills_in(turn, nodes);
  const std::int64_t ahead = slots > 2 && are_read_behind(fills, nodes) ? slots - 2 : slots - 1;
  // The turns before the first one, of all tiles together.
  const UOp first = ahead > 1 ? g.range(k.next_range++, ahead, LoopKind::Loop) : g.index(0);
  const UOp later = turn + ahead;
  std::vector<std::pair<UOp, UOp>> replaced;
  for (UOp old : tiles_of(fills)) {
    const UOp tile = tile_with_slots(old, slots, ahead);
    std::vector<UOp> filled;
    for (UOp fill : fills) {
      if (tile_of(fill) != old) continue;
      filled.push_back(fill_for(fill, turn, tile, {first, first}, copied_loops(k, fill)));
      filled.push_back(fill_for(fill, turn, tile, {later, later % slots}, {}));
    }
    const UOp after = g.after(tile, filled);
    for (UOp place : nodes) {
      if (!place.is(Op::Index) || !place.src(0).is(Op::After) || place.src(0).src(0) != old)
        continue;
      const UOp index = turn % slots * old.elements() + place.src(1);
      replaced.emplace_back(
          place, place.num_src() > 2 ? g.place(after, index, place.src(2)) : g.place(after, index));
    }
  }
  k.sink = substitute(k.sink, replaced);
}

}  // namespace croze
