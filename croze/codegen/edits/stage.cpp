// stage.cpp -- tabulating an operand in fast memory.
//
// The tile must be no larger than what is read.  A 3x3 convolution reads row y + ky for y in a
// block and ky in 0..2: that is block + 2 rows, not block * 3.  So the inner ranges are put in
// groups that appear only as one sum, like {y, ky}; each group is one axis of the tile.  Whether
// the index and the gate really depend on the sum alone is not guessed but checked: the group's
// first range is replaced by (s - rest of the sum) for a fresh s, and the rest must vanish from the
// canonical form.
#include "croze/codegen/edits/stage.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "croze/codegen/edits/note.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct Member {
  UOp range;
  std::int64_t factor;     // in the group's sum
  std::size_t loop_order;  // position in `inner`
};

struct Axis {
  std::vector<Member> members;     // the first has factor 1
  std::int64_t memory_stride = 0;  // elements of the source per step; 0: not affine
  std::int64_t size = 1;           // places of the tile
  std::size_t loop_order = 0;      // of its innermost member

  // The only member, if it is an open loop: its trip count may be less than the places.
  UOp open_loop() const { return members[0].range.is_open() ? members[0].range : UOp(); }
  // A number that divides how many places are filled.
  std::int64_t divisor() const { return open_loop() ? open_loop().trip_divisor() : size; }
};

UOp gate_of(UOp place) { return place.num_src() > 2 ? place.src(2) : UOp(); }

// The sum that the members of an axis form.
UOp sum_of(const Axis& axis) {
  UOp sum = axis.members[0].range;
  for (std::size_t i = 1; i < axis.members.size(); i++) {
    sum = sum + axis.members[i].range * axis.members[i].factor;
  }
  return sum;
}

UOp substituted(UOp u, UOp from, UOp to) {
  const std::pair<UOp, UOp> map[] = {{from, to}};
  return substitute(u, map);
}

// Whether the place depends on the members of the axis through their sum only.
bool is_function_of_sum(UOp place, const Axis& axis) {
  if (axis.members.size() == 1) return true;
  Graph& g = place.graph();
  const UOp first = axis.members[0].range;
  const UOp s = g.variable(1 << 20, 0, axis.size - 1);
  const UOp value = s + first - sum_of(axis);
  UOp index = substituted(place.src(1), first, value);
  UOp gate = gate_of(place) ? substituted(gate_of(place), first, value) : UOp();
  for (std::size_t i = 0; i < axis.members.size(); i++) {
    const UOp r = axis.members[i].range;
    if (index.varies_over(r) || (gate && gate.varies_over(r))) return false;
  }
  return true;
}

Axis axis_of(UOp place, UOp range, std::size_t order) {
  const Stride stride = stride_over(place.src(1), range);
  Axis axis;
  axis.members.push_back({range, 1, order});
  axis.memory_stride = stride.affine ? stride.step : 0;
  axis.size = range.range_size();
  axis.loop_order = order;
  return axis;
}

// `a` with the members of `b`, whose memory stride is a multiple of that of `a`.
Axis joined(const Axis& a, const Axis& b) {
  Axis result = a;
  const std::int64_t factor = b.memory_stride / a.memory_stride;
  for (Member m : b.members) {
    m.factor *= factor;
    result.members.push_back(m);
  }
  result.size = a.size + (b.size - 1) * factor;
  result.loop_order = std::max(a.loop_order, b.loop_order);
  return result;
}

// Lanes that are every other element of the axis would be gathered each time that they are read.
bool keeps_lanes_together(const Axis& axis) {
  return std::ranges::none_of(axis.members, [](const Member& m) {
    return m.factor != 1 && m.range.loop_kind() == LoopKind::Lane;
  });
}

// The axes of the tile for the ranges of `inner` that the place varies over.
std::vector<Axis> tile_axes(UOp place, std::span<const UOp> inner) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < inner.size(); i++) {
    const bool varies = place.src(1).varies_over(inner[i]) ||
                        (gate_of(place) && gate_of(place).varies_over(inner[i]));
    if (varies) axes.push_back(axis_of(place, inner[i], i));
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return a.memory_stride < b.memory_stride; });
  std::vector<Axis> result;
  for (const Axis& axis : axes) {
    if (!result.empty() && result.back().memory_stride > 0 && !axis.open_loop() &&
        !result.back().open_loop() && axis.memory_stride % result.back().memory_stride == 0) {
      // Ranges that reach no further than one step of the next are apart: i * 4 + j for j < 4.
      const Axis& last = result.back();
      const bool overlap = axis.memory_stride < last.memory_stride * last.size;
      const Axis both = joined(last, axis);
      if (overlap && keeps_lanes_together(both) && is_function_of_sum(place, both)) {
        result.back() = both;
        continue;
      }
    }
    result.push_back(axis);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Axis& a, const Axis& b) { return a.loop_order < b.loop_order; });
  return result;
}

// The loops that fill the tile, and for each axis its position in terms of them.
struct Fill {
  std::vector<UOp> loops;
  std::vector<UOp> position;  // per axis
  UOp gate;                   // null: always
};

UOp and_also(UOp gate, UOp condition) { return gate ? gate & condition : condition; }

// Each item of the group copies every items-th element.
Fill fill_by_items(KernelState& k, const std::vector<Axis>& axes) {
  Graph& g = k.graph();
  std::vector<UOp> items;
  std::ranges::copy_if(k.loops, std::back_inserter(items),
                       [](UOp r) { return r.loop_kind() == LoopKind::Item; });
  std::int64_t total = 1;
  for (const Axis& a : axes) total *= a.size;
  UOp item = g.index(0);
  for (UOp r : items) item = item * r.range_size() + r;
  const std::int64_t count = iterations(items);
  const std::int64_t turns = (total + count - 1) / count;
  Fill fill;
  UOp flat = item;
  if (turns > 1) {
    fill.loops.push_back(g.range(k.next_range++, turns, LoopKind::Loop));
    flat = fill.loops[0] * count + item;
  }
  if (total % count != 0) fill.gate = less(flat, total);
  fill.position.resize(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    fill.position[i] = i == 0 ? flat : flat % axes[i].size;
    flat = flat / axes[i].size;
    if (const UOp open = axes[i].open_loop()) {
      fill.gate = and_also(fill.gate, less(fill.position[i], open.trip_count()));
    }
  }
  return fill;
}

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
FillVectors vectors_of_terms(const std::vector<Axis>& axes, std::int64_t lanes) {
  if (axes.size() < 2) return {};
  const Axis &terms = axes[axes.size() - 1], &along = axes[axes.size() - 2];
  const bool fits = terms.members[0].range.loop_kind() == LoopKind::Depth && terms.size < lanes &&
                    std::has_single_bit(static_cast<std::uint64_t>(terms.size));
  if (!fits || along.memory_stride != 1 || along.size < lanes / 2) return {};
  return {lanes, axes.size() - 2, terms.size};
}

// Lanes along the last axis, if the source is contiguous there.
FillVectors vectors_of(const KernelState& k, const std::vector<Axis>& axes, DType dtype,
                       std::int64_t lanes) {
  if (lanes <= 1 || axes.empty()) return {};
  const std::size_t last = axes.size() - 1;
  if (axes[last].memory_stride == 1) {
    const auto size = static_cast<std::uint64_t>(axes[last].size);
    if (axes[last].size >= lanes / 2) return {lanes, last};
    if (std::has_single_bit(size) && size > 1) return {axes[last].size, last};
    return {};
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

// A loop per axis, or a loop over parts and the lanes, or copies, of a part.  The loops walk the
// source as it lies in memory: what is fetched with an element is used before it is gone.
Fill fill_by_loops(KernelState& k, std::vector<Axis>& axes, const FillVectors& vectors) {
  Fill fill;
  std::vector<std::pair<std::int64_t, UOp>> walk;  // loops, and their steps in the source
  std::vector<UOp> parts;                          // inside of all loops
  for (std::size_t i = 0; i < axes.size(); i++) {
    Axis& a = axes[i];
    const bool copied = vectors.copies > 1 && i + 1 == axes.size();
    const bool is_cut = vectors.lanes > 1 && (copied || i == vectors.axis);
    const std::int64_t part = copied ? vectors.copies : is_cut ? vectors.lanes : 1;
    const UOp size = a.open_loop() ? a.open_loop().trip_count() : k.graph().index(a.size);
    const bool is_whole = a.divisor() % part == 0;
    a.size = (a.size + part - 1) / part * part;
    UOp position = new_loop(k, (size + (part - 1)) / part, LoopKind::Loop);
    if (position.is(Op::Range)) walk.emplace_back(a.memory_stride * part, position);
    if (is_cut) {
      const LoopKind kind = copied ? LoopKind::Unroll : LoopKind::Lane;
      parts.push_back(new_loop(k, k.graph().index(part), kind));
      position = position * part + parts.back();
    }
    if (!is_whole) fill.gate = and_also(fill.gate, less(position, size));
    fill.position.push_back(position);
  }
  std::ranges::stable_sort(walk, std::greater(), &std::pair<std::int64_t, UOp>::first);
  for (const auto& [step, loop] : walk) fill.loops.push_back(loop);
  fill.loops.insert(fill.loops.end(), parts.begin(), parts.end());
  return fill;
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
  for (const Axis& a : tile_axes(load.src(0), inner)) {
    bytes = a.size > too_many / bytes ? too_many : bytes * a.size;
  }
  return bytes;
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
  std::vector<Axis> axes = tile_axes(place, inner);
  const bool shared = space == Space::Group;
  const Fill fill = shared ? fill_by_items(k, axes)
                           : fill_by_loops(k, axes, vectors_of(k, axes, load.dtype(), lanes));

  // What the tile holds at a position: the operand with each group's sum replaced by the position.
  std::vector<std::pair<UOp, UOp>> at_position;
  UOp fill_index = g.index(0), read_index = g.index(0);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < axes.size(); i++) {
    for (const Member& m : axes[i].members) {
      const bool first = &m == &axes[i].members[0];
      at_position.emplace_back(m.range, first ? fill.position[i] : g.index(0));
    }
    fill_index = fill_index * axes[i].size + fill.position[i];
    read_index = read_index * axes[i].size + sum_of(axes[i]);
    elements *= axes[i].size;
  }
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
  const UOp staged = g.load(g.place(g.after(tile, std::span(&filled, 1)), read_index));
  const std::pair<UOp, UOp> replacement[] = {{load, staged}};
  k.sink = substitute(k.sink, replacement);
}

}  // namespace croze
