// combine_items.cpp -- by shuffles in a warp, by group memory from warp to warp, or by group memory
// alone.
//
// In a warp each item combines what it has with what the item has whose number differs in one bit,
// for one bit after the other: then all have the result.  Whether something holds for one of them,
// or for all, they find out at once, by a ballot.  One of each warp writes it, all items
// meet, and each reads one of what the warps have come to and does the same again.
//
// Where items do not stand in warps like that, a tree: each item writes its value.  Then the lower
// half of the items combines what it has with that of the upper half, until one value is left, as
// the lanes of a vector are combined.  Between the steps all items meet: linearize() puts barriers
// around each store to memory that a group shares.
#include "croze/codegen/lower/combine_items.h"

#include <algorithm>
#include <bit>

#include "croze/graph/graph.h"

namespace croze {
namespace {

bool is_power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

// Of 4 bytes at least, as items give it to each other: what is less is widened, and comes back
// as it was.
UOp at_item(UOp value, std::int64_t bit) {
  Graph& g = value.graph();
  const DType t = value.dtype();
  const DType wide = size_of(t) >= 4 ? t : is_float(t) ? DType::Float32 : DType::Int32;
  const UOp given = wide == t ? value : g.cast(value, wide);
  const UOp there = g.make(Op::Shuffle, wide, {given}, Arg(bit));
  return wide == t ? there : g.cast(there, t);
}

}  // namespace

ItemCombiner::ItemCombiner(std::span<const UOp> nodes, const Caps& caps, const ItemAxes& axes)
    : shuffles_wide_(caps.has_dtype(DType::Int64)), ballots_(caps.ballots_items), axes_(axes) {
  for (UOp u : nodes) {
    if (u.is(Op::Local)) next_local_ = std::max(next_local_, u.arg().ints[0] + 1);
    if (!u.is(Op::Range)) continue;
    const LoopKind kind = u.loop_kind();
    if (kind == LoopKind::Item || kind == LoopKind::Lane) apart_.push_back(u);
  }
  // Lanes last, next to each other.
  std::ranges::sort(apart_, {},
                    [](UOp r) { return std::pair(r.loop_kind() == LoopKind::Lane, r.range_id()); });
  std::int64_t items = 1;
  for (UOp r : axes.axes) items *= r.range_size();
  if (caps.shuffles_items && items % caps.warp_items == 0) warp_ = caps.warp_items;
}

UOp ItemCombiner::combined(UOp reduce, UOp value, std::span<const UOp> items) {
  const Op op = reduce.reduce_op();
  for (std::size_t i = 0; i < items.size(); i++) {
    const Row row = row_beside(items[i], reduce, items.subspan(i + 1));
    const Neighbours neighbours = neighbours_of(items[i], value.dtype());
    value = neighbours.in_warp > 1 ? by_warps(op, value, items[i], row, neighbours)
                                   : by_tree(op, value, items[i], row);
  }
  return value;
}

ItemCombiner::Neighbours ItemCombiner::neighbours_of(UOp item, DType t) const {
  if (warp_ == 1 || (size_of(t) > 4 && !shuffles_wide_)) return {};
  std::int64_t distance = 1;
  for (std::int64_t axis = 0; axis < axes_.axis_of.at(item.range_id()); axis++) {
    distance *= axes_.axes[static_cast<std::size_t>(axis)].range_size();
  }
  const std::int64_t size = item.range_size();
  if (distance >= warp_ || !is_power_of_two(distance) || !is_power_of_two(size)) return {};
  const std::int64_t in_warp = std::min(size, warp_ / distance);
  // What warps have come to, one more warp combines.
  return size / in_warp > in_warp ? Neighbours{} : Neighbours{distance, in_warp};
}

// What comes of a reduction is the same for all of a loop that it closes.
ItemCombiner::Row ItemCombiner::row_beside(UOp item, UOp reduce, std::span<const UOp> open) const {
  Row row{reduce.graph().index(0)};
  for (UOp r : apart_) {
    if (!reduce.varies_over(r) && std::ranges::find(open, r) == open.end()) continue;
    if (r == item) continue;
    row.place = row.place * r.range_size() + r;
    row.size *= r.range_size();
  }
  return row;
}

UOp ItemCombiner::new_tile(DType t, std::int64_t elements, Graph& g) {
  return g.local(t, next_local_++, elements, Space::Group);
}

// The bits of a ballot that are those of an item's own row: of the items that are a step of the row
// apart, and stand beside all else where it stands.
UOp ItemCombiner::row_in_ballot(DType t, const Neighbours& row, Graph& g) const {
  std::uint64_t first_row = 0;
  for (std::int64_t i = 0; i < row.in_warp; i++) first_row |= std::uint64_t{1} << i * row.distance;
  const UOp bits = g.constant(t, static_cast<std::int64_t>(first_row));
  const UOp number = number_in_warp(g);
  const UOp beside =
      number % row.distance + number / (row.distance * row.in_warp) * (row.distance * row.in_warp);
  return g.alu(Op::Shl, {bits, g.cast(beside, t)});
}

// Items are counted with the first axis fastest.
UOp ItemCombiner::number_in_warp(Graph& g) const {
  UOp number = g.index(0);
  std::int64_t size = 1;
  for (UOp axis : axes_.axes) {
    if (size >= warp_) break;
    number = number + axis * size;
    size *= axis.range_size();
  }
  return number % warp_;
}

// Whether it holds for one of the row, or, as a minimum, for all: for none it does not.
UOp ItemCombiner::by_ballot(Op op, UOp value, const Neighbours& row) const {
  Graph& g = value.graph();
  const DType t = warp_ > 32 ? DType::UInt64 : DType::UInt32;
  const bool is_any = op == Op::Max;
  const UOp asked = is_any ? value : g.alu(Op::Not, {value});
  const UOp ballot = g.make(Op::Ballot, t, {asked}, Arg(warp_));
  const UOp in_row = row.in_warp == warp_ ? ballot : ballot & row_in_ballot(t, row, g);
  return g.alu(is_any ? Op::Ne : Op::Eq, {in_row, g.constant(t, std::int64_t{0})});
}

UOp ItemCombiner::combined_in_warp(Op op, UOp value, const Neighbours& row) const {
  const bool is_asked = value.dtype() == DType::Bool && (op == Op::Max || op == Op::Min);
  if (ballots_ && is_asked && row.in_warp > 2) return by_ballot(op, value, row);
  return shuffled(op, value, row.in_warp, row.distance);
}

UOp ItemCombiner::shuffled(Op op, UOp value, std::int64_t items, std::int64_t distance) const {
  for (std::int64_t bit = items / 2; bit > 0; bit /= 2) {
    value = value.graph().alu(op, {value, at_item(value, bit * distance)});
  }
  return value;
}

UOp ItemCombiner::by_warps(Op op, UOp value, UOp item, const Row& row,
                           const Neighbours& neighbours) {
  const auto& [distance, in_warp] = neighbours;
  value = combined_in_warp(op, value, neighbours);
  const std::int64_t warps = item.range_size() / in_warp;
  if (warps == 1) return value;
  Graph& g = value.graph();
  const UOp tile = new_tile(value.dtype(), warps * row.size, g);
  const UOp first = less(item % in_warp, 1);
  const UOp own = g.place(tile, item / in_warp * row.size + row.place, first);
  const UOp written = g.store(own, value, std::span(&item, 1));
  const UOp of_warp = item % warps * row.size + row.place;
  const UOp read = g.load(g.place(g.after(tile, std::span(&written, 1)), of_warp));
  return shuffled(op, read, warps, distance);
}

UOp ItemCombiner::by_tree(Op op, UOp value, UOp item, const Row& row) {
  Graph& g = value.graph();
  const std::int64_t count = item.range_size();
  const UOp tile = new_tile(value.dtype(), count * row.size, g);
  const UOp at = item * row.size + row.place;
  const UOp closed[] = {item};  // what comes of it all items have in common
  UOp step = g.store(g.place(tile, at), value, closed);
  for (std::int64_t left = count; left > 1; left = (left + 1) / 2) {
    const std::int64_t half = (left + 1) / 2;
    const UOp before = g.after(tile, std::span(&step, 1));
    const UOp gate = less(item, left - half);
    const UOp low = g.load(g.place(before, at, gate));
    const UOp high = g.load(g.place(before, at + half * row.size, gate));
    step = g.store(g.place(before, at, gate), g.alu(op, {low, high}), closed);
  }
  return g.load(g.place(g.after(tile, std::span(&step, 1)), row.place));
}

}  // namespace croze
