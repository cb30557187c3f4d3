// group_factor.cpp -- tiles that lie as a matrix unit reads them.
//
// The record of the unit has an order of bits: which line and which term the element at a place is.
// To fill the tile the opposite is wanted, the place of a line and a term: each bit of the place is
// one of theirs, or the sum of two of them modulo two.  What goes along a row of the tile goes by
// vectors, if it lies side by side in the source, too.
#include "croze/codegen/edits/warps/group_factor.h"

#include <algorithm>

#include "croze/codegen/edits/tile_axes.h"
#include "croze/codegen/edits/warps/fill_items.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

UOp bits_from(UOp number, int first, int count) {
  return number / (std::int64_t{1} << first) % (std::int64_t{1} << count);
}

UOp place_in_factor(const GroupFactor& f, UOp line, UOp term) {
  const auto coordinate = [&](char axis) { return axis == 'k' ? term : line; };
  UOp place = line.graph().index(0);
  for (const PlaceBits& b : place_bits(f.places)) {
    const UOp number = coordinate(b.axis);
    if (b.flipped_by == 0) {
      place = place +
              bits_from(number, b.first_of_axis, b.count) * (std::int64_t{1} << b.first_of_place);
      continue;
    }
    for (int i = 0; i < b.count; i++) {
      const UOp bit = bits_from(number, b.first_of_axis + i, 1),
                flip = bits_from(coordinate(b.flipped_by), b.first_of_flipping + i, 1);
      place = place + (bit + flip) % 2 * (std::int64_t{1} << (b.first_of_place + i));
    }
  }
  return place;
}

// The axis that the lowest bits of a place count.
std::size_t axis_along_rows(const GroupFactor& f, const std::vector<TileAxis>& axes) {
  return place_bits(f.places).front().axis == 'k' ? axes.size() - 1 : axes.size() - 2;
}

}  // namespace

std::vector<UOp> ranges_of_factor(const KernelState& k, const GroupFactor& factor) {
  std::vector<UOp> inner;
  for (LoopKind kind : {LoopKind::Item, LoopKind::Unroll}) {
    for (UOp r : k.loops) {
      if (r.loop_kind() == kind && factor.load.src(0).varies_over(r)) inner.push_back(r);
    }
  }
  inner.insert(inner.end(), {factor.lines, factor.depth});
  return inner;
}

std::string refuse_group_factor(const KernelState& k, const GroupFactor& factor) {
  const std::vector<UOp> inner = ranges_of_factor(k, factor);
  const std::vector<TileAxis> axes = tile_axes(factor.load.src(0), inner);
  const auto is_plain = [](const TileAxis& a) { return a.phases == 1 && !a.open_loop(); };
  if (axes.size() != inner.size() || !std::ranges::all_of(axes, is_plain))
    return "what the unit would read overlaps";
  return {};
}

UOp group_factor(KernelState& k, const GroupFactor& factor, std::span<const UOp> items, UOp part,
                 const MatrixUnit& unit) {
  Graph& g = k.graph();
  const DType t = factor.load.dtype();
  const UOp place = factor.load.src(0);
  std::vector<TileAxis> axes = tile_axes(place, ranges_of_factor(k, factor));
  const FillOrder order =
      order_of_axes(axes, axis_along_rows(factor, axes), k.caps().vector_bytes / size_of(t));
  const TileFill fill = fill_by_items(k, items, place, t, axes, &order);

  const std::size_t outer = axes.size() - 2;  // in front of lines and terms
  UOp to = place_in_factor(factor, fill.position[outer], fill.position[outer + 1]);
  UOp first = g.index(0);
  std::int64_t elements = axes[outer].size * axes[outer + 1].size;
  for (std::size_t i = outer; i-- > 0;) {
    to = to + fill.position[i] * elements;
    first = first + sum_of(axes[i]) * elements;
    elements *= axes[i].size;
  }
  std::vector<std::pair<UOp, UOp>> at_position;
  for (std::size_t i = 0; i < axes.size(); i++)
    at_position.emplace_back(axes[i].members[0].range, fill.position[i]);
  UOp from = substitute(place, at_position);
  if (fill.gate) from = g.place(from.src(0), from.src(1), and_also(gate_of(from), fill.gate));

  const UOp tile = g.local(t, k.next_local++, elements, Space::Group);
  const UOp target = fill.gate ? g.place(tile, to, fill.gate) : g.place(tile, to);
  const UOp filled = g.store(target, g.load(from), fill.loops);
  const UOp contents = g.after(tile, std::span(&filled, 1));
  return g.make(Op::LoadMatrix, t, {g.place(contents, first), part}, Arg(unit.threads));
}

}  // namespace croze
