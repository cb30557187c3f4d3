// group_factor.cpp -- tiles that lie as a matrix unit reads them.
//
// The record of the unit has an order of bits: which line and which term the element at a place is.
// To fill the tile the opposite is wanted, the place of a line and a term: each bit of the place is
// one of theirs, or the sum of two of them modulo two.  What goes along a row of the tile goes by
// vectors, if it lies side by side in the source, too.
//
// What such a unit reads a device may also copy by boxes (Op::CopyBox), of which one item begins
// each: of rows of 128 bytes, which lie one after the other in the tile.
#include "croze/codegen/edits/warps/group_factor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "croze/codegen/edits/tile_axes.h"
#include "croze/codegen/edits/warps/box_fill.h"
#include "croze/codegen/edits/warps/fill_items.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"

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

// ---- boxes ----

constexpr std::int64_t bytes_of_row = 128, most_rows = 256, most_boxes = 32;

// A tile that boxes fill: the axes of the source, and how large a box is on the two that it extends
// over.
struct BoxedTile {
  std::vector<BoxAxis> source;
  UOp along, across;
  std::int64_t in_row, rows;
};

// Of copies that go on it is not known when they read.
bool is_stored_to(const KernelState& k, std::int64_t slot) {
  for (UOp store : k.sink.sources()) {
    if (buffer_of(store.src(0)).slot() == slot) return true;
  }
  return false;
}

// Nothing if items fill the tile.
std::optional<BoxedTile> boxed_tile(const KernelState& k, const GroupFactor& f,
                                    const std::vector<TileAxis>& axes) {
  const UOp place = f.load.src(0);
  const bool by_terms = axis_along_rows(f, axes) + 1 == axes.size();
  BoxedTile tile{.source = {},
                 .along = by_terms ? f.depth : f.lines,
                 .across = by_terms ? f.lines : f.depth,
                 .in_row = bytes_of_row / size_of(f.load.dtype()),
                 .rows = 0};
  tile.rows = tile.across.range_size();
  std::int64_t boxes = tile.along.range_size() / tile.in_row;
  for (std::size_t i = 0; i + 2 < axes.size(); i++) boxes *= axes[i].size;
  if (!k.caps().copies_boxes || tile.along.range_size() % tile.in_row != 0 ||
      tile.rows > most_rows || boxes > most_boxes)
    return {};
  std::optional<std::vector<BoxAxis>> source = box_axes(place, tile.along, tile.across);
  if (!source || is_stored_to(k, place.src(0).slot())) return {};
  tile.source = std::move(*source);
  return tile;
}

// The box that begins at these values of loops, to the element `to` of the tile.
UOp box_at(const BoxedTile& boxed, UOp from, UOp tile, UOp to,
           std::span<const std::pair<UOp, UOp>> values) {
  Graph& g = tile.graph();
  std::vector<UOp> src{g.place(tile, to), from};
  std::vector<std::int64_t> words;
  for (const BoxAxis& a : boxed.source) {
    src.push_back(substitute(a.coordinate.build(g), values));
    const std::int64_t extent = a.coordinate.coefficient(boxed.along) != 0    ? boxed.in_row
                                : a.coordinate.coefficient(boxed.across) != 0 ? boxed.rows
                                                                              : 1;
    words.insert(words.end(), {a.size, a.stride, extent});
  }
  return g.make(Op::CopyBox, DType::Void, src, Arg(words));
}

// Those of each factor that lies in the tile, in the order in which they do.
std::vector<UOp> boxes_of(const BoxedTile& boxed, const GroupFactor& f,
                          const std::vector<TileAxis>& axes, UOp tile) {
  Graph& g = tile.graph();
  const std::size_t outer = axes.size() - 2;
  std::int64_t factors = 1;
  for (std::size_t i = 0; i < outer; i++) factors *= axes[i].size;
  const std::int64_t elements = axes[outer].size * axes[outer + 1].size;
  std::vector<UOp> boxes;
  for (std::int64_t n = 0; n < factors; n++) {
    std::vector<std::pair<UOp, UOp>> values;
    for (std::size_t i = outer, number = n; i-- > 0; number /= axes[i].size)
      values.emplace_back(axes[i].members[0].range, g.index(number % axes[i].size));
    values.emplace_back(boxed.across, g.index(0));
    for (std::int64_t first = 0; first < boxed.along.range_size(); first += boxed.in_row) {
      values.emplace_back(boxed.along, g.index(first));
      const UOp in_factor =
          place_in_factor(f, substitute(f.lines, values), substitute(f.depth, values));
      boxes.push_back(box_at(boxed, f.load.src(0).src(0), tile, in_factor + n * elements, values));
      values.pop_back();
    }
  }
  return boxes;
}

// ---- items ----

// The store by which the items fill the tile.
UOp fill_of_items(KernelState& k, const GroupFactor& factor, std::span<const UOp> items,
                  std::vector<TileAxis> axes, UOp tile) {
  Graph& g = k.graph();
  const DType t = factor.load.dtype();
  const UOp place = factor.load.src(0);
  const std::int64_t most_lanes = std::max<std::int64_t>(1, k.caps().vector_bytes / size_of(t));
  const FillOrder order = order_of_axes(axes, axis_along_rows(factor, axes), most_lanes);
  const TileFill fill = fill_by_items(k, items, place, t, axes, &order);
  const std::size_t outer = axes.size() - 2;  // in front of lines and terms
  UOp to = place_in_factor(factor, fill.position[outer], fill.position[outer + 1]);
  std::int64_t elements = axes[outer].size * axes[outer + 1].size;
  for (std::size_t i = outer; i-- > 0;) {
    to = to + fill.position[i] * elements;
    elements *= axes[i].size;
  }
  std::vector<std::pair<UOp, UOp>> at_position;
  for (std::size_t i = 0; i < axes.size(); i++)
    at_position.emplace_back(axes[i].members[0].range, fill.position[i]);
  UOp from = substitute(place, at_position);
  if (fill.gate) from = g.place(from.src(0), from.src(1), and_also(gate_of(from), fill.gate));
  const UOp target = fill.gate ? g.place(tile, to, fill.gate) : g.place(tile, to);
  return g.store(target, g.load(from), fill.loops);
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
  const std::vector<TileAxis> axes = tile_axes(factor.load.src(0), ranges_of_factor(k, factor));
  const std::size_t outer = axes.size() - 2;  // in front of lines and terms
  UOp first = g.index(0);
  std::int64_t elements = axes[outer].size * axes[outer + 1].size;
  for (std::size_t i = outer; i-- > 0;) {
    first = first + sum_of(axes[i]) * elements;
    elements *= axes[i].size;
  }
  const UOp tile = g.local(t, k.next_local++, elements, Space::Group);
  const std::optional<BoxedTile> boxed = boxed_tile(k, factor, axes);
  const std::vector<UOp> filled =
      boxed ? boxes_of(*boxed, factor, axes, tile)
            : std::vector<UOp>{fill_of_items(k, factor, items, axes, tile)};
  const UOp contents = g.after(tile, filled);
  return g.make(Op::LoadMatrix, t, {g.place(contents, first), part}, Arg(unit.threads));
}

}  // namespace croze
