// scatter.cpp -- values that may meet are put down in order, by as many as there can be.
//
// What two values go to one place for is in their order: the last one stays, or a sum is rounded
// like that.  So their loop is serial, and where nothing else is parallel, most of a device with
// groups is idle.  Looking where a value goes is far cheaper there than waiting for what stands in
// its place; so everybody looks at all of them and puts down those of a slice.
#include "croze/schedule/parts/scatter.h"

#include <algorithm>

#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Values that are put down before slices would have begun.
constexpr std::int64_t least_values = 64;

// Places that a slice has at least.
constexpr std::int64_t least_of_slice = 4;

std::int64_t turns(std::span<const UOp> ranges, LoopKind kind) {
  std::int64_t n = 1;
  for (UOp r : ranges) {
    if (r.loop_kind() == kind) n *= r.range_size();
  }
  return n;
}

}  // namespace

std::vector<bool> serial_axes(UOp scatter) {
  Graph& g = scatter.graph();
  std::vector<bool> serial(static_cast<std::size_t>(scatter.src(1).rank()), true);
  for (int i = 2; i < scatter.num_src(); i++) {
    UOp index = scatter.src(i);
    Position at{{}, g.boolean(true)};
    for (Extent size : extents_of(index)) {
      at.index.push_back(g.variable(at.index.size(), 0, size.most() - 1));
    }
    for (; is_movement(index.op()) || index.is(Op::Cast); index = index.src(0)) {
      if (is_movement(index.op())) at = through_movement(index, at);
    }
    if (!index.is(Op::Iota) || !at.gate.is_const(1) || !at.index[0].is(Op::Variable)) continue;
    serial[static_cast<std::size_t>(at.index[0].slot())] = false;
  }
  return serial;
}

ScatterSlices slices_of(UOp scatter, const Position& to, std::span<const UOp> ranges,
                        const Caps& caps) {
  ScatterSlices slices;
  if (!caps.runs_warps() || scatter.has_open_shape() || scatter.src(1).has_open_shape()) {
    return slices;
  }
  if (turns(ranges, LoopKind::Serial) < least_values) return slices;
  std::int64_t size = 0;
  for (std::int64_t axis = 0; axis < to.index.size(); axis++) {
    const std::int64_t here = scatter.src(0).shape()[static_cast<std::size_t>(axis)];
    const bool is_looked_up = std::ranges::any_of(ranges, [&](UOp r) {
      return r.loop_kind() == LoopKind::Serial && to.index[axis].varies_over(r);
    });
    if (!is_looked_up || here <= size) continue;
    size = here;
    slices.axis = axis;
  }
  const WarpModel model(caps);
  const std::int64_t enough = model.units * model.usual_items;
  const std::int64_t wanted =
      std::min(enough / turns(ranges, LoopKind::Parallel), size / least_of_slice);
  if (wanted < 2) return slices;
  slices.length = (size + wanted - 1) / wanted;
  slices.count = (size + slices.length - 1) / slices.length;
  return slices;
}

UOp within_slice(const ScatterSlices& slices, UOp slice, const Position& to) {
  const UOp from_first = to.index[slices.axis] - slice * slices.length;
  return within(from_first, slices.length);
}

UOp loaded_under(UOp condition, UOp value) {
  Graph& g = value.graph();
  NodeMap<UOp> copies(g);
  std::vector<UOp> src;
  for (UOp u : toposort(value)) {
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies.get(s));
    UOp copy = u.num_src() == 0 ? u : g.with_sources(u, src);
    if (u.is(Op::Load)) {
      const UOp place = copy.src(0);
      const UOp gate = place.num_src() > 2 ? both(place.src(2), condition) : condition;
      copy = g.load(g.place(place.src(0), place.src(1), gate));
    }
    copies.set(u, copy);
  }
  return copies.get(value);
}

}  // namespace croze
