// fill_items.cpp -- how the elements of a tile are dealt out to items.
//
// An element is numbered by digits, one for each axis, or for each bit of one that says what a
// thread has of a matrix.  Digits go by their steps in the source, so that neighbours fetch
// neighbours, and the last ones are a vector.
#include "croze/codegen/edits/warps/fill_items.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t row_of_square = 8;  // elements that Op::LoadMatrix has side by side

// The axes in the order of their steps in the source, the smallest last: neighbours in a warp fetch
// what lies side by side, wherever in the tile it goes.
std::vector<std::size_t> walk_of(const std::vector<TileAxis>& axes) {
  std::vector<std::size_t> walk(axes.size());
  std::iota(walk.begin(), walk.end(), std::size_t{0});
  std::ranges::stable_sort(walk, std::greater(), [&](std::size_t i) {
    const std::int64_t step = axes[i].memory_stride;
    return step == 0 ? std::numeric_limits<std::int64_t>::max() : step;
  });
  return walk;
}

// What the source moves by for a bit of the range; 0: it depends on others.
std::int64_t step_of_bit(UOp index, UOp range, std::int64_t bit) {
  Graph& g = index.graph();
  const UOp step = substituted(index, range, g.index(bit)) - substituted(index, range, g.index(0));
  return step.is_const() ? std::abs(step.const_int()) : 0;
}

// Of the threads of a wave and of what each has, whose bits are those of rows and terms in another
// order; none if it is no such axis.
std::vector<Digit> bits_of_axis(UOp place, const TileAxis& axis, std::size_t number) {
  const UOp range = axis.members[0].range;
  const auto size = static_cast<std::uint64_t>(axis.size);
  if (axis.memory_stride != 0 || axis.members.size() > 1 || !std::has_single_bit(size)) return {};
  std::vector<Digit> bits;
  for (std::int64_t bit = 1; bit < axis.size; bit *= 2) {
    const std::int64_t step = step_of_bit(place.src(1), range, bit);
    if (step == 0) return {};
    bits.push_back({number, bit, 2, step});
  }
  return bits;
}

// In the order of their steps in the source, the smallest last.
std::vector<Digit> digits_of(UOp place, const std::vector<TileAxis>& axes) {
  std::vector<Digit> digits;
  for (std::size_t i = 0; i < axes.size(); i++) {
    const std::vector<Digit> bits = bits_of_axis(place, axes[i], i);
    digits.insert(digits.end(), bits.begin(), bits.end());
    const std::int64_t step = axes[i].memory_stride;
    if (bits.empty()) {
      const std::int64_t farthest = std::numeric_limits<std::int64_t>::max();
      digits.push_back({i, 1, axes[i].size, step == 0 ? farthest : step});
    }
  }
  std::ranges::stable_sort(digits, std::greater(), &Digit::step);
  return digits;
}

// Takes the last digits where they count what lies side by side in the source and in the tile, as
// the terms of a register of a matrix unit: how many elements are a vector.
std::int64_t take_vector(std::vector<Digit>& digits, const std::vector<TileAxis>& axes,
                         std::int64_t most) {
  if (axes.empty() || axes.back().memory_stride != 0) return 1;
  std::int64_t lanes = 1;
  while (!digits.empty() && 2 * lanes <= most) {
    const Digit& last = digits.back();
    const bool follows = last.axis + 1 == axes.size() && last.weight == lanes && last.size == 2;
    if (!follows || last.step != lanes) break;
    digits.pop_back();
    lanes *= 2;
  }
  return lanes;
}

// Bits of a thread and of its registers that Op::LoadMatrix deals out: pairs of what lies side by
// side in a row, and rows; transposed, pairs of rows.
bool are_squares(const std::vector<Digit>& thread, const std::vector<Digit>& lane,
                 bool transposed) {
  if (thread.size() != 5 || lane.empty()) return false;
  const std::int64_t columns[] = {lane[0].step, thread[0].step, thread[1].step},
                     rows[] = {thread[2].step, thread[3].step, thread[4].step};
  const std::int64_t(&in_a_row)[3] = transposed ? rows : columns;
  return std::ranges::equal(in_a_row, std::array{1, 2, 4});
}

// Of the last digits, which lie side by side in source and tile, how many elements are a vector:
// all vectors begin at multiples of as many.
std::int64_t lanes_of_row(const FillOrder& order, std::int64_t most) {
  std::int64_t lanes = std::min(most, order.most_lanes);
  for (const Digit& d : order.digits) {
    while (d.step >= lanes && d.step % lanes != 0) lanes /= 2;
  }
  return lanes;
}

// The bit of this weight of a lane, or of the thread, in the place of the row that the thread
// gives; null: it is not in the place of a row.  Rows go by the lowest three bits of the thread,
// squares by those above them, and by the lanes' but for the lowest.
UOp bit_of_row(const MatrixTile& tile, bool is_of_lane, std::int64_t weight) {
  const auto bit = [&](std::int64_t of) { return tile.thread / of % 2; };
  if (is_of_lane && weight > 1) return bit(row_of_square * weight / 2);
  if (tile.transposed) {
    if (is_of_lane) return bit(1);
    return weight < 4 ? bit(2 * weight) : UOp();
  }
  return !is_of_lane && weight >= 4 ? bit(weight / 4) : UOp();
}

}  // namespace

std::int64_t row_gap(const std::vector<TileAxis>& axes, DType dtype, const Caps& caps) {
  if (axes.size() < 2 || walk_of(axes).back() + 1 == axes.size()) return 0;
  const bool are_vectors = axes.back().members[0].range.loop_kind() == LoopKind::Lane;
  if (are_vectors) return 0;  // an item reads a row at once
  const std::int64_t words = axes.back().size * std::max<std::int64_t>(4, size_of(dtype)) / 4;
  return std::gcd(words, caps.group_memory_banks) > 1 ? 1 : 0;
}

std::optional<MatrixTile> matrix_tile(UOp place, DType dtype, const std::vector<TileAxis>& axes,
                                      const Caps& caps) {
  if (!caps.loads_matrices || size_of(dtype) != 2 || axes.size() < 2) return {};
  const auto is_plain = [](const TileAxis& a) { return a.phases == 1 && !a.open_loop(); };
  if (!std::ranges::all_of(axes, is_plain)) return {};
  const std::size_t last = axes.size() - 1;
  MatrixTile tile{.order = {digits_of(place, axes), {}, row_of_square},
                  .thread = axes[last - 1].members[0].range,
                  .lane = axes[last].members[0].range};
  if (tile.thread.loop_kind() != LoopKind::Item || tile.lane.loop_kind() != LoopKind::Lane)
    return {};
  const std::vector<Digit> thread = bits_of_axis(place, axes[last - 1], last - 1),
                           lane = bits_of_axis(place, axes[last], last);
  tile.transposed = are_squares(thread, lane, true);
  if (!tile.transposed && !are_squares(thread, lane, false)) return {};
  // Rows end where the source goes on elsewhere.  What stands below each other falls on other banks
  // if rows are an odd number of what an item reads.
  const std::vector<Digit>& digits = tile.order.digits;
  tile.order.weights.resize(digits.size());
  bool in_row = true;
  for (std::size_t n = digits.size(); n-- > 0;) {
    if (in_row && digits[n].step != tile.elements) {
      in_row = false;
      if (tile.elements / row_of_square % 2 == 0) tile.elements += row_of_square;
    }
    tile.order.weights[n] = tile.elements;
    tile.elements *= digits[n].size;
  }
  return tile;
}

UOp loaded_matrix(const MatrixTile& tile, UOp contents, const std::vector<TileAxis>& axes) {
  Graph& g = contents.graph();
  UOp index = g.index(0);
  for (std::size_t n = 0; n < tile.order.digits.size(); n++) {
    const Digit& d = tile.order.digits[n];
    const UOp range = axes[d.axis].members[0].range;
    UOp digit = sum_of(axes[d.axis]);
    if (range == tile.thread || range == tile.lane) {
      digit = bit_of_row(tile, range == tile.lane, d.weight);
      if (!digit) continue;
    }
    index = index + digit * tile.order.weights[n];
  }
  return g.make(Op::LoadMatrix, contents.dtype(), {g.place(contents, index), tile.lane},
                Arg(std::int64_t{tile.transposed}));
}

FillOrder order_of_axes(const std::vector<TileAxis>& axes, std::size_t along,
                        std::int64_t most_lanes) {
  FillOrder order;
  for (std::size_t i : walk_of(axes)) {
    const std::int64_t step = axes[i].memory_stride, far = std::int64_t{1} << 62;
    order.digits.push_back({i, 1, axes[i].size, step == 0 ? far : step});
  }
  const Digit& last = order.digits.back();
  if (last.axis == along && last.step == 1 && last.size % most_lanes == 0)
    order.most_lanes = most_lanes;
  return order;
}

std::optional<FillOrder> order_by_pixels(UOp place, DType dtype, const std::vector<TileAxis>& axes,
                                         const Caps& caps) {
  constexpr std::int64_t pixel = 4;
  if (caps.image_vectors == 0 || size_of(dtype) > 4 || axes.empty() ||
      caps.vector_bytes < pixel * size_of(dtype)) {
    return {};
  }
  const std::size_t along = walk_of(axes).back();
  std::vector<std::pair<UOp, UOp>> at_begin;
  for (std::size_t i = 0; i < axes.size(); i++) {
    const TileAxis& a = axes[i];
    const bool is_row = i == along;
    const bool keeps_pixels = is_row ? a.memory_stride == 1 && !a.open_loop()
                                     : a.memory_stride != 0 && a.memory_stride % pixel == 0;
    if (!keeps_pixels || a.phases > 1) return {};
    for (const AxisMember& m : a.members) {
      const bool may_end_within = is_row && gate_of(place) && gate_of(place).varies_over(m.range);
      if (may_end_within) return {};
      at_begin.emplace_back(m.range, place.graph().index(0));
    }
  }
  // Where the tile begins.
  if (substitute(place.src(1), at_begin).bounds().multiple % pixel != 0) return {};
  const FillOrder order = order_of_axes(axes, along, pixel);
  return order.most_lanes == pixel ? std::optional(order) : std::nullopt;
}

TileFill fill_by_items(KernelState& k, std::span<const UOp> items, UOp place, DType dtype,
                       std::vector<TileAxis>& axes, const FillOrder* order) {
  Graph& g = k.graph();
  std::int64_t total = 1;
  std::vector<std::int64_t> filled;
  for (TileAxis& a : axes) {
    filled.push_back(a.size);
    a.size = a.size_of_phase() * a.phases;
    total *= a.size;
  }
  std::vector<Digit> digits = order ? order->digits : digits_of(place, axes);
  const std::int64_t most_lanes = std::max<std::int64_t>(1, k.caps().vector_bytes / size_of(dtype)),
                     lanes = order ? lanes_of_row(*order, most_lanes)
                                   : take_vector(digits, axes, most_lanes);
  const bool has_weights = order && !order->weights.empty();
  total /= lanes;
  UOp item = g.index(0);
  for (UOp r : items) item = item * r.range_size() + r;
  const std::int64_t count = iterations(items);
  const std::int64_t turns = (total + count - 1) / count;
  TileFill fill;
  fill.position.assign(axes.size(), g.index(0));
  UOp flat = item;
  if (turns > 1) {
    fill.loops.push_back(g.range(k.next_range++, turns, LoopKind::Loop));
    flat = fill.loops[0] * count + item;
  }
  if (total % count != 0) fill.gate = less(flat, total);
  if (has_weights) fill.place = g.index(0);
  if (lanes > 1) {
    const UOp lane = g.range(k.next_range++, lanes, LoopKind::Lane);
    fill.loops.push_back(lane);
    if (order) {
      flat = flat * lanes + lane;
    } else {
      fill.position.back() = lane;
    }
  }
  for (std::size_t n = digits.size(); n-- > 0;) {
    const auto& [i, weight, size, step] = digits[n];
    const UOp digit = n == 0 ? flat : flat % size;
    fill.position[i] = fill.position[i] + digit * weight;
    if (has_weights) fill.place = fill.place + digit * order->weights[n];
    flat = flat / size;
    if (filled[i] < axes[i].size) {
      fill.gate = and_also(fill.gate, less(fill.position[i], filled[i]));
    }
    if (const UOp open = axes[i].open_loop()) {
      fill.gate = and_also(fill.gate, less(fill.position[i], open.trip_count()));
    }
  }
  return fill;
}

}  // namespace croze
