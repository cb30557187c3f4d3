// ranges.cpp -- movement ops as maps of index expressions.
//
// There is no view or stride class: a Permute reorders the expressions, a Shrink adds to one, a
// Flip mirrors one, a Pad guards one, and a Reshape flattens some and splits them again with floor
// division and modulo, which the canonical index form undoes wherever it can be undone.
#include "croze/schedule/ranges.h"

#include <algorithm>
#include <vector>

#include "croze/graph/extent.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Splits offset `flat` into the axes [begin, end) of `shape`.
void unflatten(UOp flat, const Extents& shape, std::int64_t begin, std::int64_t end,
               IndexVector& out) {
  for (std::int64_t axis = end; axis-- > begin;) {
    const Extent size = shape[axis];
    if (axis == begin) {
      out[axis] = size.is_number(1) ? constant_like(flat, 0) : flat;
    } else {
      const UOp divisor = size.in(flat.graph());
      out[axis] = flat % divisor;
      flat = flat / divisor;
    }
  }
}

// Axes from `begin` on whose sizes make up that many elements.
struct Block {
  std::int64_t begin = 0, end = 0;
  Extent elements = 1;

  bool is_at_end(const Extents& sizes) const { return end == sizes.size(); }
  void take(const Extents& sizes) { elements = elements * sizes[end++]; }
};

// Of two blocks that are not equal, the one to go on with is the smaller.  Which that is may not be
// known of open sizes; whatever is taken, equal blocks are met at the end at the latest.
bool is_smaller(Extent a, Extent b) {
  if (a.most() != b.most()) return a.most() < b.most();
  return a.least() < b.least();
}

// Axes are regrouped in the smallest blocks of equal size on both sides, so that an axis that a
// reshape leaves alone costs nothing.
IndexVector regrouped(const Extents& from, const Extents& to, const IndexVector& index,
                      Graph& graph) {
  IndexVector result(from.size(), graph.index(0));
  Block a, b;
  while (!a.is_at_end(from) && !b.is_at_end(to)) {
    a = {a.end, a.end};
    b = {b.end, b.end};
    a.take(from);
    b.take(to);
    while (a.elements != b.elements && !(a.is_at_end(from) && b.is_at_end(to))) {
      const bool takes_from =
          b.is_at_end(to) || (!a.is_at_end(from) && is_smaller(a.elements, b.elements));
      takes_from ? a.take(from) : b.take(to);
    }
    Extents block;
    for (std::int64_t axis = b.begin; axis < b.end; axis++) block.push_back(to[axis]);
    const auto count = static_cast<std::size_t>(b.end - b.begin);
    const UOp flat = flat_index(std::span(index.data() + b.begin, count), block, graph);
    unflatten(flat, from, a.begin, a.end, result);
  }
  return result;  // axes left over on either side have size 1
}

void through_pad(UOp pad, Position& p) {
  for (std::int64_t axis = 0; axis < p.index.size(); axis++) {
    const Extent before = extent_argument(pad, 2 * axis),
                 after = extent_argument(pad, 2 * axis + 1);
    if (before.is_number(0) && after.is_number(0)) continue;
    p.index[axis] = p.index[axis] - before.in(pad.graph());
    p.gate = both(p.gate, within(p.index[axis], pad.src(0).extent(axis)));
  }
}

// arg: {axis, length, stride, dilation}; the source's axis counts windows, its last axis is k.
void through_unwindow(UOp u, Position& p) {
  const std::int64_t *arg = u.arg().ints, axis = arg[0], stride = arg[2], dilation = arg[3];
  const UOp start = p.index[axis] - p.index.back() * dilation;
  if (stride > 1) p.gate = both(p.gate, equal(start % stride, 0));
  p.index[axis] = start / stride;
  p.gate = both(p.gate, within(p.index[axis], u.src(0).extent(axis)));
}

void through_window(UOp u, Position& p) {
  const std::int64_t* arg = u.arg().ints;
  const UOp k = p.index.back();
  p.index.pop_back();
  p.index[arg[0]] = p.index[arg[0]] * arg[2] + k * arg[3];
}

}  // namespace

UOp within(UOp x, Extent size) {
  Graph& g = x.graph();
  UOp result = g.boolean(true);
  if (x.lo() < 0) result = both(result, less(g.index(-1), x));
  if (size.is_open()) return both(result, less(x, size.expression()));
  if (x.hi() >= size.number()) result = both(result, less(x, size.number()));
  return result;
}

UOp both(UOp a, UOp b) {
  if (a.is_const()) return a.const_int() ? b : a;
  if (b.is_const()) return b.const_int() ? a : b;
  return a == b ? a : a & b;
}

std::int64_t run_along(const Position& at, UOp range, std::int64_t unused) {
  if (range.is_open()) return 1;
  const std::int64_t size = range.range_size();
  Graph& g = range.graph();
  std::vector<UOp> parts(at.index.begin(), at.index.end());
  parts.push_back(at.gate);
  const auto stays = [&](std::int64_t run) {
    const UOp runs = g.range(unused, size / run, range.loop_kind());
    const UOp inside = g.range(unused + 1, run, range.loop_kind());
    const std::pair<UOp, UOp> split[] = {{range, runs * run + inside}};
    return std::ranges::none_of(
        parts, [&](UOp part) { return substitute(part, split).varies_over(inside); });
  };
  std::int64_t longest = 1;
  for (UOp u : toposort(parts)) {
    const bool is_part = (u.is(Op::IDiv) || u.is(Op::Mod)) && u.src(1).is_const();
    if (!is_part || !u.varies_over(range)) continue;
    const std::int64_t run = u.src(1).const_int();
    if (run > longest && run < size && size % run == 0 && stays(run)) longest = run;
  }
  return longest;
}

Extents extents_of(UOp u) {
  Extents sizes;
  for (int axis = 0; axis < u.rank(); axis++) sizes.push_back(u.extent(axis));
  return sizes;
}

UOp flat_index(std::span<const UOp> index, const Extents& shape, Graph& graph) {
  UOp flat = graph.index(0);
  for (std::int64_t axis = 0; axis < shape.size(); axis++) {
    flat = flat * shape[axis].in(graph);
    if (!shape[axis].is_number(1)) flat = flat + index[static_cast<std::size_t>(axis)];
  }
  return flat;
}

Position through_reshape(UOp from, UOp to, const Position& position) {
  return {regrouped(extents_of(from), extents_of(to), position.index, to.graph()), position.gate};
}

Position through_movement(UOp u, const Position& position) {
  const UOp x = u.src(0);
  Graph& graph = u.graph();
  Position p = position;
  switch (u.op()) {
    case Op::Reshape: return through_reshape(x, u, position);
    case Op::Expand:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        if (x.extent(i).is_number(1)) p.index[i] = graph.index(0);
      }
      break;
    case Op::Permute:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        p.index[u.arg().ints[i]] = position.index[i];
      }
      break;
    case Op::Flip:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        if (u.arg().ints[i]) p.index[i] = (u.extent(i) - 1).in(graph)-p.index[i];
      }
      break;
    case Op::Pad: through_pad(u, p); break;
    case Op::Shrink:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        p.index[i] = p.index[i] + extent_argument(u, 2 * i).in(graph);
      }
      break;
    case Op::Window: through_window(u, p); break;
    case Op::Unwindow: through_unwindow(u, p); break;
    default: break;
  }
  return p;
}

}  // namespace croze
