// tile_legality.cpp -- which tiles a kernel takes, and what room there is for them.
#include <fmt/format.h>

#include <algorithm>

#include "croze/codegen/edits/item_axes.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/warps/contract_wave.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

// A loop over which a tile may extend.
bool can_be_inside_tile(LoopKind kind) {
  switch (kind) {
    case LoopKind::Parallel:
    case LoopKind::Reduce:
    case LoopKind::Loop:  // of a turn, or one that fills a tile
    case LoopKind::Item:
    case LoopKind::Lane:
    case LoopKind::Unroll:
    case LoopKind::Depth: return true;
    default: return false;
  }
}

constexpr std::int64_t most_slots = 8;  // of a tile

bool is_item(UOp range) { return range.loop_kind() == LoopKind::Item; }

// How many times its size an element takes in memory that a group shares.
std::int64_t growth_in_group(DType t, const Caps& caps) {
  return std::max<std::int64_t>(1, caps.group_element_bytes / size_of(t));
}

// By which so many items get the sums of a unit that keeps them.
std::int64_t bytes_of_all(const MatrixUnit& unit, std::int64_t items) {
  return items / unit.threads * bytes_of_kept_sums(unit);
}

}  // namespace

// What a tile that an item has for itself may take.  All tiles of items that are alone in their
// groups share the memory of a group.
std::int64_t Legality::room_of_tile() const {
  const Caps& caps = k_.caps();
  if (!caps.has_groups) return caps.l2_bytes;
  const bool is_alone = !caps.runs_warps() && std::ranges::none_of(k_.loops, is_item);
  if (!is_alone) return most_private_bytes;
  return caps.group_memory - bytes_of_tiles(Space::Group) - bytes_of_tiles(Space::Thread);
}

std::int64_t Legality::bytes_of_tiles(Space space) const {
  std::int64_t bytes = 0;
  for (UOp tile : tiles_) {
    if (space_of_tile(tile) != space) continue;
    bytes += bytes_of_tile(tile) * (space == Space::Group ? growth_of(tile) : 1);
  }
  if (space == Space::Group) {
    for (UOp u : closers_) bytes += u.is(Op::Reduce) ? combining_bytes(u, ranges_) : 0;
    bytes += bytes_of_sums();
  }
  return bytes;
}

// What a unit reads by itself lies there as it does elsewhere.
std::int64_t Legality::growth_of(UOp tile) const {
  const bool is_of_unit = std::ranges::any_of(
      order_, [&](UOp u) { return is_read_by_unit(u) && buffer_of(u.src(0)) == tile; });
  return is_of_unit ? 1 : growth_in_group(tile.dtype(), k_.caps());
}

// Of group memory, by which items get the sums that units keep.
std::int64_t Legality::bytes_of_sums() const {
  std::vector<const MatrixUnit*> units;
  for (UOp u : order_) {
    const MatrixUnit* unit = u.is(Op::Contract) ? find_matrix_unit(u.arg().as_text()) : nullptr;
    if (unit && std::ranges::find(units, unit) == units.end()) units.push_back(unit);
  }
  std::int64_t bytes = 0;
  for (const MatrixUnit* unit : units) bytes += bytes_of_all(*unit, iterations(items_of(k_)));
  return bytes;
}

std::string Legality::refuse_stage(const Edit& e) const {
  if (e.load < 0 || e.load >= std::ssize(loads_)) return "there is no such load";
  const UOp load = loads_[static_cast<std::size_t>(e.load)];
  const std::string why = refuse_source(load, named(e), e.space);
  return why.empty() ? refuse_tile(e, load) : why;
}

// Whether what is loaded may be in a tile over the loops.
std::string Legality::refuse_source(UOp load, std::span<const UOp> inner, Space space) const {
  const UOp place = load.src(0);
  if (!place.src(0).is(Op::Param)) return "the load is not from memory of the program";
  if (is_written(place.src(0))) return "the kernel writes what it loads";
  for (UOp u : toposort(place)) {
    if (u.is(Op::Load) && u != load && !u.src(0).src(0).is(Op::Param)) {
      return "where it loads from is read from another tile";
    }
  }
  for (UOp r : inner) {
    if (!can_be_inside_tile(r.loop_kind())) {
      return fmt::format("a tile cannot extend over loop r{} of kind {}", r.range_id(),
                         name_of(r.loop_kind()));
    }
  }
  if (std::ranges::none_of(inner, [&](UOp r) { return place.varies_over(r); })) {
    return "the load does not vary over the loops";
  }
  // A fill may be longer than the tile, under a gate; what is loaded for the gate itself, or to
  // know where, has none.
  for (UOp u : toposort(place)) {
    if (u.is(Op::Load) && u != load &&
        std::ranges::any_of(inner, [&](UOp r) { return u.varies_over(r); })) {
      return "where it loads from is loaded itself, in the loops of the tile";
    }
  }
  for (UOp r : ranges_) {
    if (place.varies_over(r) && std::ranges::find(inner, r) == inner.end() &&
        !can_stand_around_tile(r.loop_kind(), space)) {
      return fmt::format("loop r{} is of kind {} and not one of the tile's", r.range_id(),
                         name_of(r.loop_kind()));
    }
  }
  return {};
}

// Of a unit that reads group memory both factors are to have tiles there.
std::string Legality::refuse_group_factors(const Edit& e) const {
  const Caps& caps = k_.caps();
  std::int64_t bytes = bytes_of_tiles(Space::Group);
  for (const GroupFactor& f : group_factors_of_wave(k_, range(e.ranges[0]), range(e.ranges[1]),
                                                    range(e.ranges[2]), e.size)) {
    const std::vector<UOp> inner = ranges_of_factor(k_, f);
    std::string why = refuse_source(f.load, inner, Space::Group);
    if (why.empty()) why = refuse_group_factor(k_, f);
    if (!why.empty()) return why;
    bytes += iterations(inner) * size_of(f.load.dtype());
  }
  const MatrixUnit& unit = *caps.matrix_units[static_cast<std::size_t>(e.size - 1)];
  bytes += bytes_of_all(unit, iterations(items_of(k_)) * unit.threads);
  if (bytes > caps.group_memory)
    return fmt::format("tiles of {} bytes do not fit in {}", bytes, caps.group_memory);
  return {};
}

// Lanes that fill the tile, room for it, and items to share the work.
std::string Legality::refuse_tile(const Edit& e, UOp load) const {
  const Caps& caps = k_.caps();
  const bool shared = e.space == Space::Group;
  const bool has_items = std::ranges::any_of(k_.loops, is_item);
  if (shared && !has_items) return "there are no items to share a tile";
  const std::int64_t most =
      shared ? 1 : std::max<std::int64_t>(1, caps.vector_bytes / size_of(load.dtype()));
  if (e.size < 1 || e.size > most) return fmt::format("a tile is filled by 1 to {} lanes", most);
  const std::vector<UOp> inner = named(e);
  std::int64_t bytes = shared ? group_tile_bytes(load, inner, caps) : tile_bytes(load, inner);
  std::int64_t room = room_of_tile();
  if (shared) {
    // To fill it, its items would have to be those of the reduction's loop and of others at once.
    for (UOp u : closers_) {
      if (!u.is(Op::Reduce) || std::ranges::none_of(closed_ranges(u), is_item)) continue;
      if (std::ranges::count(toposort(u), load) > 0) {
        return "items reduce what they would read from the tile";
      }
    }
    room = caps.group_memory;
    bytes *= growth_in_group(load.dtype(), caps);
    bytes += bytes_of_tiles(Space::Group);
  }
  if (bytes > room) return fmt::format("a tile of {} bytes does not fit in {}", bytes, room);
  return refuse_new_ranges(2 * std::ssize(inner) + 1);
}

std::string Legality::refuse_fill_ahead(const Edit& e) const {
  const UOp turn = range(e.ranges[0]);
  if (turn.loop_kind() != LoopKind::Reduce) {
    return fmt::format("loop r{} is of kind {}", turn.range_id(), name_of(turn.loop_kind()));
  }
  if (e.size < 2 || e.size > most_slots) {
    return fmt::format("a tile has 2 to {} slots", most_slots);
  }
  if (!turn.is_open() && e.size > turn.range_size()) {
    return fmt::format("loop r{} turns {} times", turn.range_id(), turn.range_size());
  }
  if (std::string why = croze::refuse_fill_ahead(turn, order_, k_.loops); !why.empty()) return why;
  std::int64_t bytes = bytes_of_tiles(Space::Group), loops = 1;
  const std::vector<UOp> fills = fills_in(turn, order_);
  for (UOp fill : fills) loops += std::ssize(closed_ranges(fill));
  for (UOp tile : tiles_of(fills)) {
    const std::int64_t slot = bytes_of_tile(tile) * growth_of(tile);
    bytes += (e.size - 1) * slot;
  }
  if (bytes > k_.caps().group_memory) {
    return fmt::format("tiles of {} bytes do not fit in {}", bytes, k_.caps().group_memory);
  }
  return refuse_new_ranges(loops);
}

// In which order the turns come, and how many there are, is known to what fills slots ahead.
std::string Legality::refuse_turns(const Edit& e) const {
  const RangeSet turns = turns_filled_ahead(order_);
  for (std::int64_t id : e.ranges) {
    if (turns.contains(id)) return fmt::format("tiles are filled ahead in loop r{}", id);
  }
  return {};
}

}  // namespace croze
