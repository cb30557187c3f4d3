// stage.cpp -- tabulating an operand in fast memory.
#include "croze/codegen/edits/stage.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "croze/codegen/edits/note.h"
#include "croze/codegen/edits/tile_axes.h"
#include "croze/codegen/edits/warps/fill_items.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

UOp new_loop(KernelState& k, UOp turns, LoopKind kind) {
  return turns.is_const(1) ? k.graph().index(0) : k.graph().range(k.next_range++, turns, kind);
}

// Which loops of a fill are vectors.
struct FillVectors {
  std::int64_t lanes = 1;  // 1: none
  std::size_t axis = 0;    // cut into lanes
  // More than 1: the last axis, another one, is cut into so many copies: the source is contiguous
  // along `axis` and the tile along the last, so tiles of copies x lanes are turned on the way.
  std::int64_t copies = 1;
};

// The terms that a matrix unit takes at once are a short last axis: with the one before it, if the
// source is contiguous there, they are a tile, too.
FillVectors vectors_of_terms(const std::vector<TileAxis>& axes, std::int64_t lanes) {
  if (axes.size() < 2) return {};
  const TileAxis &terms = axes[axes.size() - 1], &along = axes[axes.size() - 2];
  const bool fits = terms.members[0].range.loop_kind() == LoopKind::Depth && terms.size < lanes &&
                    std::has_single_bit(static_cast<std::uint64_t>(terms.size));
  if (!fits || along.memory_stride != 1 || along.phases > 1 || along.size < lanes / 2) return {};
  return {lanes, axes.size() - 2, terms.size};
}

// Lanes along the last axis, if the source is contiguous there, or every other element of it is
// wanted in a row, or divisions say where each is, which lanes share.
FillVectors vectors_of(const KernelState& k, const std::vector<TileAxis>& axes, DType dtype,
                       std::int64_t lanes) {
  if (lanes <= 1 || axes.empty()) return {};
  const std::size_t last = axes.size() - 1;
  const std::int64_t step = axes[last].memory_stride * axes[last].phases;
  const bool gathers = step == 0 && axes[last].divides && k.caps().masked_vectors;
  if (step == 1 || step == every_other || gathers) {
    const std::int64_t size = axes[last].size_of_phase();
    if (size >= lanes / 2) return {lanes, last};
    const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(size));
    return is_power && size > 1 ? FillVectors{size, last} : FillVectors{};
  }
  const bool can_turn =
      can_exchange(dtype, k.caps()) && std::has_single_bit(static_cast<std::uint64_t>(lanes));
  if (!can_turn) return {};
  if (axes[last].divisor() % lanes == 0) {
    for (std::size_t i = 0; i < last; i++) {
      if (axes[i].memory_stride == 1 && axes[i].divisor() % lanes == 0) return {lanes, i, lanes};
    }
  }
  return vectors_of_terms(axes, lanes);
}

// Copies of the code of a fill, one for each mask: as many as are held in registers, or nearly.
constexpr std::int64_t most_masks = 9;
// Elements that each of them is then for.
constexpr std::int64_t least_masked = 4;

// Axes of a gated source that are copies of the code: of a window, whose masks are the same for all
// elements of the other axes and so are made once.
std::vector<bool> axes_of_masks(const FillVectors& vectors, const std::vector<TileAxis>& axes,
                                UOp gate) {
  std::vector<bool> result(axes.size());
  if (!gate || vectors.lanes == 1 || vectors.copies > 1) return result;
  std::int64_t masks = 1, others = 1;
  for (std::size_t i = 0; i < axes.size(); i++) {
    const TileAxis& a = axes[i];
    if (i == vectors.axis || a.divides) continue;
    const bool tells = std::ranges::any_of(
        a.members, [&](const AxisMember& m) { return gate.varies_over(m.range); });
    if (tells && (a.open_loop() || a.phases > 1)) return std::vector<bool>(axes.size());
    result[i] = tells;
    (tells ? masks : others) *= a.size;
  }
  return masks <= most_masks && others >= least_masked ? result : std::vector<bool>(axes.size());
}

// A loop per axis, or a loop over parts and the lanes, or copies, of a part; and copies for the
// phases of an axis, or for its masks.  The loops walk the source as it lies in memory: what is
// fetched with an element is used before it is gone.  Those for which there are divisions stand
// around the others, so that there are few.
class FillByLoops {
 public:
  FillByLoops(KernelState& k, const FillVectors& vectors, UOp gate)
      : k_(k), vectors_(vectors), gate_(gate) {}

  TileFill over(std::vector<TileAxis>& axes) {
    const std::vector<bool> has_masks = axes_of_masks(vectors_, axes, gate_);
    for (std::size_t i = 0; i < axes.size(); i++) {
      const bool copied = vectors_.copies > 1 && i + 1 == axes.size();
      const bool is_cut = vectors_.lanes > 1 && i == vectors_.axis;
      const std::int64_t part = copied         ? vectors_.copies
                                : is_cut       ? vectors_.lanes
                                : has_masks[i] ? axes[i].size
                                               : 1;
      add(axes[i], part, copied || has_masks[i] ? LoopKind::Unroll : LoopKind::Lane);
    }
    std::ranges::stable_sort(walk_, std::greater(), &std::pair<std::int64_t, UOp>::first);
    for (const auto& [step, loop] : walk_) fill_.loops.push_back(loop);
    fill_.loops.insert(fill_.loops.end(), parts_.begin(), parts_.end());
    return std::move(fill_);
  }

 private:
  // Makes the axis a multiple of parts, which are of a kind, and of phases.
  void add(TileAxis& axis, std::int64_t part, LoopKind kind) {
    const UOp size = axis.open_loop() ? axis.open_loop().trip_count() : index(axis.size);
    const bool is_whole = axis.divisor() % (part * axis.phases) == 0;
    axis.size = (axis.size_of_phase() + part - 1) / part * part * axis.phases;
    const UOp turns =
        axis.phases > 1 ? index(axis.size / axis.phases / part) : (size + (part - 1)) / part;
    UOp position = new_loop(k_, turns, LoopKind::Loop);
    if (position.is(Op::Range)) {
      const std::int64_t step = axis.memory_stride * part * axis.phases;
      walk_.emplace_back(axis.divides ? INT64_MAX : step, position);
    }
    const UOp phase = axis.phases > 1 ? add_part(axis.phases, LoopKind::Unroll) : UOp();
    if (part > 1) position = position * part + add_part(part, kind);
    if (phase) position = position * axis.phases + phase;
    if (!is_whole) fill_.gate = and_also(fill_.gate, less(position, size));
    fill_.position.push_back(position);
  }

  UOp add_part(std::int64_t size, LoopKind kind) {
    parts_.push_back(new_loop(k_, index(size), kind));
    return parts_.back();
  }

  UOp index(std::int64_t value) const { return k_.graph().index(value); }

  KernelState& k_;
  const FillVectors vectors_;
  const UOp gate_;  // of the source; null: none
  TileFill fill_;
  std::vector<std::pair<std::int64_t, UOp>> walk_;  // loops, and their steps in the source
  std::vector<UOp> parts_;                          // inside of all loops
};

// Elements from one place of each axis to the next, and of all.  `gap` is left free behind the last
// axis; the tile of a thread lies in its caches.
struct TileLayout {
  std::vector<std::int64_t> strides;
  std::int64_t elements = 1;
};

TileLayout layout_of(const std::vector<TileAxis>& axes, DType dtype, Space space,
                     std::int64_t gap) {
  TileLayout result{.strides = std::vector<std::int64_t>(axes.size())};
  for (std::size_t i = axes.size(); i-- > 0;) {
    const bool is_last = i + 1 == axes.size();
    result.strides[i] = result.elements;
    result.elements *= axes[i].size + (is_last ? gap : 0);
    const std::int64_t element = size_of(dtype);
    if (space == Space::Thread && i > 0 && axes[i - 1].size > 1)
      result.elements = bytes_apart(result.elements * element) / element;
  }
  return result;
}

Edit stage_edit(const KernelState& k, UOp load, std::span<const UOp> inner, Space space,
                std::int64_t lanes) {
  Edit edit{.kind = EditKind::Stage, .size = lanes, .space = space};
  const std::vector<UOp> all = loads(k.sink);
  edit.load = std::ranges::find(all, load) - all.begin();
  for (UOp r : inner) edit.ranges.push_back(r.range_id());
  return edit;
}

}  // namespace

std::int64_t tile_bytes(UOp load, std::span<const UOp> inner) {
  constexpr std::int64_t too_many = std::int64_t{1} << 48;
  std::int64_t bytes = size_of(load.dtype());
  for (const TileAxis& a : tile_axes(load.src(0), inner)) {
    bytes = a.size > too_many / bytes ? too_many : bytes * a.size;
  }
  return bytes;
}

std::int64_t group_tile_bytes(UOp load, std::span<const UOp> inner, const Caps& caps) {
  const std::vector<TileAxis> axes = tile_axes(load.src(0), inner);
  const std::int64_t bytes = tile_bytes(load, inner);
  if (const auto matrices = matrix_tile(load.src(0), load.dtype(), axes, caps))
    return matrices->elements * size_of(load.dtype());
  return axes.empty()
             ? bytes
             : bytes / axes.back().size * (axes.back().size + row_gap(axes, load.dtype(), caps));
}

bool try_stage(KernelState& k, UOp load, std::span<const UOp> inner, Space space,
               std::int64_t lanes) {
  if (!is_legal(k, stage_edit(k, load, inner, space, lanes))) return false;
  stage(k, load, inner, space, lanes);
  return true;
}

void stage(KernelState& k, UOp load, std::span<const UOp> inner, Space space, std::int64_t lanes) {
  note(k, stage_edit(k, load, inner, space, lanes));
  Graph& g = k.graph();
  const UOp place = load.src(0);
  std::vector<TileAxis> axes = tile_axes(place, inner);
  const bool shared = space == Space::Group;
  const std::optional<MatrixTile> matrices =
      shared ? matrix_tile(place, load.dtype(), axes, k.caps()) : std::nullopt;
  const std::optional<FillOrder> order = matrices ? std::optional(matrices->order)
                                         : shared
                                             ? order_by_pixels(place, load.dtype(), axes, k.caps())
                                             : std::nullopt;
  const TileFill fill =
      shared ? fill_by_items(k, items_of(k), place, load.dtype(), axes, order ? &*order : nullptr)
             : FillByLoops(k, vectors_of(k, axes, load.dtype(), lanes), gate_of(place)).over(axes);

  const TileLayout layout =
      layout_of(axes, load.dtype(), space, shared ? row_gap(axes, load.dtype(), k.caps()) : 0);
  // What the tile holds at a position: the operand with each group's sum replaced by the position.
  std::vector<std::pair<UOp, UOp>> at_position;
  UOp fill_index = g.index(0), read_index = g.index(0);
  for (std::size_t i = 0; i < axes.size(); i++) {
    for (const AxisMember& m : axes[i].members) {
      const bool first = &m == &axes[i].members[0];
      at_position.emplace_back(m.range, first ? fill.position[i] : g.index(0));
    }
    fill_index = fill_index + place_in_tile(axes[i], fill.position[i]) * layout.strides[i];
    read_index = read_index + place_in_tile(axes[i], sum_of(axes[i])) * layout.strides[i];
  }
  if (matrices) fill_index = fill.place;
  const std::int64_t elements = matrices ? matrices->elements : layout.elements;
  UOp source = substitute(place, at_position);
  UOp target_gate = fill.gate;
  if (fill.gate) {
    source = g.place(source.src(0), source.src(1), and_also(gate_of(source), fill.gate));
    if (!shared) target_gate = UOp();  // the tile has room: fill it with zeros
  }
  const UOp tile = g.local(load.dtype(), k.next_local++, elements, space);
  const UOp target =
      target_gate ? g.place(tile, fill_index, target_gate) : g.place(tile, fill_index);
  const UOp filled = g.store(target, g.load(source), fill.loops);
  const UOp contents = g.after(tile, std::span(&filled, 1));
  const UOp staged =
      matrices ? loaded_matrix(*matrices, contents, axes) : g.load(g.place(contents, read_index));
  const std::pair<UOp, UOp> replacement[] = {{load, staged}};
  k.sink = substitute(k.sink, replacement);
}

}  // namespace croze
