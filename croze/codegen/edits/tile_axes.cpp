// tile_axes.cpp -- which ranges a tile extends over together.
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
#include "croze/codegen/edits/tile_axes.h"

#include <algorithm>
#include <utility>

#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {

UOp substituted(UOp u, UOp from, UOp to) {
  const std::pair<UOp, UOp> map[] = {{from, to}};
  return substitute(u, map);
}

UOp place_in_tile(const TileAxis& axis, UOp position) {
  if (axis.phases == 1) return position;
  return position % axis.phases * axis.size_of_phase() + position / axis.phases;
}

UOp sum_of(const TileAxis& axis) {
  UOp sum = axis.members[0].range;
  for (std::size_t i = 1; i < axis.members.size(); i++) {
    sum = sum + axis.members[i].range * axis.members[i].factor;
  }
  return sum;
}

namespace {

// Whether the place depends on the members of the axis through their sum only.
bool is_function_of_sum(UOp place, const TileAxis& axis) {
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

TileAxis axis_of(UOp place, UOp range, std::size_t order) {
  const Stride stride = stride_over(place.src(1), range);
  TileAxis axis;
  axis.members.push_back({range, 1, order});
  axis.memory_stride = stride.affine ? stride.step : 0;
  axis.size = range.range_size();
  axis.divides = is_divided(place, range);
  axis.loop_order = order;
  return axis;
}

// `a` with the members of `b`, whose memory stride is a multiple of that of `a`.
TileAxis joined(const TileAxis& a, const TileAxis& b) {
  TileAxis result = a;
  const std::int64_t factor = b.memory_stride / a.memory_stride;
  for (AxisMember m : b.members) {
    m.factor *= factor;
    result.members.push_back(m);
  }
  result.size = a.size + (b.size - 1) * factor;
  result.divides = a.divides || b.divides;
  result.loop_order = std::max(a.loop_order, b.loop_order);
  return result;
}

// Phases in which the lanes lie side by side; 0: there are none.
std::int64_t phases_for_lanes(const TileAxis& axis) {
  std::int64_t phases = 1;
  for (const AxisMember& m : axis.members) {
    if (m.range.loop_kind() == LoopKind::Lane) phases = m.factor;
  }
  return phases <= every_other ? phases : 0;
}

// Whether both are terms that a matrix unit takes at once, and those of `inner` go on in `outer`,
// in the source as in the tile.
bool are_terms_in_a_row(const TileAxis& outer, const TileAxis& inner) {
  const auto is_depth = [](const TileAxis& a) {
    return a.members[0].range.loop_kind() == LoopKind::Depth;
  };
  return is_depth(outer) && is_depth(inner) && outer.loop_order + 1 == inner.loop_order &&
         outer.memory_stride == inner.memory_stride * inner.size;
}

}  // namespace

std::vector<TileAxis> tile_axes(UOp place, std::span<const UOp> inner) {
  std::vector<TileAxis> axes;
  for (std::size_t i = 0; i < inner.size(); i++) {
    const bool varies = place.src(1).varies_over(inner[i]) ||
                        (gate_of(place) && gate_of(place).varies_over(inner[i]));
    if (varies) axes.push_back(axis_of(place, inner[i], i));
  }
  std::stable_sort(axes.begin(), axes.end(), [](const TileAxis& a, const TileAxis& b) {
    return a.memory_stride < b.memory_stride;
  });
  std::vector<TileAxis> result;
  for (const TileAxis& axis : axes) {
    if (!result.empty() && result.back().memory_stride > 0 && !axis.open_loop() &&
        !result.back().open_loop() && axis.memory_stride % result.back().memory_stride == 0) {
      // Ranges that reach no further than one step of the next are apart: i * 4 + j for j < 4.
      const TileAxis& last = result.back();
      const bool overlap = axis.memory_stride < last.memory_stride * last.size;
      TileAxis both = joined(last, axis);
      both.phases = phases_for_lanes(both);
      if ((overlap || are_terms_in_a_row(axis, last)) && both.phases > 0 &&
          is_function_of_sum(place, both)) {
        result.back() = both;
        continue;
      }
    }
    result.push_back(axis);
  }
  std::stable_sort(result.begin(), result.end(), [](const TileAxis& a, const TileAxis& b) {
    return a.loop_order < b.loop_order;
  });
  return result;
}

}  // namespace croze
