// stage.cpp -- tabulating an operand in fast memory.
//
// The tile must be no larger than what is read.  A 3x3 convolution reads row y + ky for y in a
// block and ky in 0..2: that is block + 2 rows, not block * 3.  So the inner ranges are put in
// groups that appear only as one sum, like {y, ky}; each group is one axis of the tile.  Whether
// the index and the gate really depend on the sum alone is not guessed but checked: the group's
// first range is replaced by (s - rest of the sum) for a fresh s, and the rest must vanish from the
// canonical form.
//
// Where the lanes of a group are every other element of it, as for windows that move by two, the
// tile holds the even ones of an axis first and the odd ones after them: its two phases.  So what
// the lanes read lies side by side, and what is known to be even or odd, a place of a window, says
// in which of the two.
#include "croze/codegen/edits/stage.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

#include "croze/codegen/edits/note.h"
#include "croze/codegen/lower/transpose.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t every_other = 2;

struct Member {
  UOp range;
  std::int64_t factor;     // in the group's sum
  std::size_t loop_order;  // position in `inner`
};

struct Axis {
  std::vector<Member> members;     // the first has factor 1
  std::int64_t memory_stride = 0;  // elements of the source per step; 0: not affine
  std::int64_t size = 1;           // places of the tile
  std::int64_t phases = 1;         // position p is element p / phases of phase p % phases
  bool divides = false;            // where it is in the source, or whether it is, takes divisions
  std::size_t loop_order = 0;      // of its innermost member

  // The only member, if it is an open loop: its trip count may be less than the places.
  UOp open_loop() const { return members[0].range.is_open() ? members[0].range : UOp(); }
  // A number that divides how many places are filled.
  std::int64_t divisor() const { return open_loop() ? open_loop().trip_divisor() : size; }
  std::int64_t size_of_phase() const { return (size + phases - 1) / phases; }
};

// Where the tile holds what stands at a position of the axis, whose size is a multiple of its
// phases.
UOp place_in_tile(const Axis& axis, UOp position) {
  if (axis.phases == 1) return position;
  return position % axis.phases * axis.size_of_phase() + position / axis.phases;
}

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

bool is_divided(UOp place, UOp range) {
  return std::ranges::any_of(toposort(place), [&](UOp u) {
    return (u.is(Op::IDiv) || u.is(Op::Mod)) && u.varies_over(range);
  });
}

Axis axis_of(UOp place, UOp range, std::size_t order) {
  const Stride stride = stride_over(place.src(1), range);
  Axis axis;
  axis.members.push_back({range, 1, order});
  axis.memory_stride = stride.affine ? stride.step : 0;
  axis.size = range.range_size();
  axis.divides = is_divided(place, range);
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
  result.divides = a.divides || b.divides;
  result.loop_order = std::max(a.loop_order, b.loop_order);
  return result;
}

// Phases in which the lanes lie side by side; 0: there are none.
std::int64_t phases_for_lanes(const Axis& axis) {
  std::int64_t phases = 1;
  for (const Member& m : axis.members) {
    if (m.range.loop_kind() == LoopKind::Lane) phases = m.factor;
  }
  return phases <= every_other ? phases : 0;
}

// Whether both are terms that a matrix unit takes at once, and those of `inner` go on in `outer`,
// in the source as in the tile.
bool are_terms_in_a_row(const Axis& outer, const Axis& inner) {
  const auto is_depth = [](const Axis& a) {
    return a.members[0].range.loop_kind() == LoopKind::Depth;
  };
  return is_depth(outer) && is_depth(inner) && outer.loop_order + 1 == inner.loop_order &&
         outer.memory_stride == inner.memory_stride * inner.size;
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
      Axis both = joined(last, axis);
      both.phases = phases_for_lanes(both);
      if ((overlap || are_terms_in_a_row(axis, last)) && both.phases > 0 &&
          is_function_of_sum(place, both)) {
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

// The axes in the order of their steps in the source, the smallest last: neighbours in a warp fetch
// what lies side by side, wherever in the tile it goes.
std::vector<std::size_t> walk_of(const std::vector<Axis>& axes) {
  std::vector<std::size_t> walk(axes.size());
  std::iota(walk.begin(), walk.end(), std::size_t{0});
  std::ranges::stable_sort(walk, std::greater(), [&](std::size_t i) {
    const std::int64_t step = axes[i].memory_stride;
    return step == 0 ? std::numeric_limits<std::int64_t>::max() : step;
  });
  return walk;
}

// Elements that are left free after each row of a tile in group memory: where items that are
// neighbours fill rows, not columns, one makes their places fall on different banks.
std::int64_t row_gap(const std::vector<Axis>& axes, DType dtype, const Caps& caps) {
  if (axes.size() < 2 || walk_of(axes).back() + 1 == axes.size()) return 0;
  const bool are_vectors = axes.back().members[0].range.loop_kind() == LoopKind::Lane;
  if (are_vectors) return 0;  // an item reads a row at once
  const std::int64_t words = axes.back().size * std::max<std::int64_t>(4, size_of(dtype)) / 4;
  return std::gcd(words, caps.group_memory_banks) > 1 ? 1 : 0;
}

// A part of a position on an axis, as a number is made of digits.
struct Digit {
  std::size_t axis;
  std::int64_t weight, size;
  std::int64_t step;  // in the source
};

// What the source moves by for a bit of the range; 0: it depends on others.
std::int64_t step_of_bit(UOp index, UOp range, std::int64_t bit) {
  Graph& g = index.graph();
  const UOp step = substituted(index, range, g.index(bit)) - substituted(index, range, g.index(0));
  return step.is_const() ? std::abs(step.const_int()) : 0;
}

// Of the threads of a wave and of what each has, whose bits are those of rows and terms in another
// order; none if it is no such axis.
std::vector<Digit> bits_of_axis(UOp place, const Axis& axis, std::size_t number) {
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
std::vector<Digit> digits_of(UOp place, const std::vector<Axis>& axes) {
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
std::int64_t take_vector(std::vector<Digit>& digits, const std::vector<Axis>& axes,
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

// Each item of the group copies every items-th element, or vector.
Fill fill_by_items(KernelState& k, UOp place, DType dtype, std::vector<Axis>& axes) {
  Graph& g = k.graph();
  std::vector<UOp> items;
  std::ranges::copy_if(k.loops, std::back_inserter(items),
                       [](UOp r) { return r.loop_kind() == LoopKind::Item; });
  std::int64_t total = 1;
  std::vector<std::int64_t> filled;
  for (Axis& a : axes) {
    filled.push_back(a.size);
    a.size = a.size_of_phase() * a.phases;
    total *= a.size;
  }
  std::vector<Digit> digits = digits_of(place, axes);
  const std::int64_t lanes = take_vector(digits, axes, k.caps().vector_bytes / size_of(dtype));
  total /= lanes;
  UOp item = g.index(0);
  for (UOp r : items) item = item * r.range_size() + r;
  const std::int64_t count = iterations(items);
  const std::int64_t turns = (total + count - 1) / count;
  Fill fill;
  fill.position.assign(axes.size(), g.index(0));
  UOp flat = item;
  if (turns > 1) {
    fill.loops.push_back(g.range(k.next_range++, turns, LoopKind::Loop));
    flat = fill.loops[0] * count + item;
  }
  if (lanes > 1) {
    fill.loops.push_back(g.range(k.next_range++, lanes, LoopKind::Lane));
    fill.position.back() = fill.loops.back();
  }
  if (total % count != 0) fill.gate = less(flat, total);
  for (std::size_t n = digits.size(); n-- > 0;) {
    const auto& [i, weight, size, step] = digits[n];
    const UOp digit = n == 0 ? flat : flat % size;
    fill.position[i] = fill.position[i] + digit * weight;
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
  if (!fits || along.memory_stride != 1 || along.phases > 1 || along.size < lanes / 2) return {};
  return {lanes, axes.size() - 2, terms.size};
}

// Lanes along the last axis, if the source is contiguous there, or every other element of it is
// wanted in a row, or divisions say where each is, which lanes share.
FillVectors vectors_of(const KernelState& k, const std::vector<Axis>& axes, DType dtype,
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

// A loop per axis, or a loop over parts and the lanes, or copies, of a part; and copies for the
// phases of an axis.  The loops walk the source as it lies in memory: what is fetched with an
// element is used before it is gone.  Those for which there are divisions stand around the others,
// so that there are few.
class FillByLoops {
 public:
  FillByLoops(KernelState& k, const FillVectors& vectors) : k_(k), vectors_(vectors) {}

  Fill over(std::vector<Axis>& axes) {
    for (std::size_t i = 0; i < axes.size(); i++) {
      const bool copied = vectors_.copies > 1 && i + 1 == axes.size();
      const bool is_cut = vectors_.lanes > 1 && i == vectors_.axis;
      const std::int64_t part = copied ? vectors_.copies : is_cut ? vectors_.lanes : 1;
      add(axes[i], part, copied ? LoopKind::Unroll : LoopKind::Lane);
    }
    std::ranges::stable_sort(walk_, std::greater(), &std::pair<std::int64_t, UOp>::first);
    for (const auto& [step, loop] : walk_) fill_.loops.push_back(loop);
    fill_.loops.insert(fill_.loops.end(), parts_.begin(), parts_.end());
    return std::move(fill_);
  }

 private:
  // Makes the axis a multiple of parts, which are of a kind, and of phases.
  void add(Axis& axis, std::int64_t part, LoopKind kind) {
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
  Fill fill_;
  std::vector<std::pair<std::int64_t, UOp>> walk_;  // loops, and their steps in the source
  std::vector<UOp> parts_;                          // inside of all loops
};

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

std::int64_t group_tile_bytes(UOp load, std::span<const UOp> inner, const Caps& caps) {
  const std::vector<Axis> axes = tile_axes(load.src(0), inner);
  const std::int64_t bytes = tile_bytes(load, inner);
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
  std::vector<Axis> axes = tile_axes(place, inner);
  const bool shared = space == Space::Group;
  const Fill fill = shared ? fill_by_items(k, place, load.dtype(), axes)
                           : FillByLoops(k, vectors_of(k, axes, load.dtype(), lanes)).over(axes);

  const std::int64_t gap = shared ? row_gap(axes, load.dtype(), k.caps()) : 0;
  // What the tile holds at a position: the operand with each group's sum replaced by the position.
  std::vector<std::pair<UOp, UOp>> at_position;
  UOp fill_index = g.index(0), read_index = g.index(0);
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < axes.size(); i++) {
    for (const Member& m : axes[i].members) {
      const bool first = &m == &axes[i].members[0];
      at_position.emplace_back(m.range, first ? fill.position[i] : g.index(0));
    }
    const std::int64_t places = axes[i].size + (i + 1 == axes.size() ? gap : 0);
    fill_index = fill_index * places + place_in_tile(axes[i], fill.position[i]);
    read_index = read_index * places + place_in_tile(axes[i], sum_of(axes[i]));
    elements *= places;
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
