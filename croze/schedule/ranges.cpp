// ranges.cpp -- movement ops as maps of index expressions.
//
// There is no view or stride class: a Permute reorders the expressions, a Shrink adds to one, a
// Flip mirrors one, a Pad guards one, and a Reshape flattens some and splits them again with floor
// division and modulo, which the canonical index form undoes wherever it can be undone.
#include "croze/schedule/ranges.h"

#include "croze/graph/graph.h"

namespace croze {
namespace {

using Shape = std::span<const std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Splits offset `flat` into the axes [begin, end) of `shape`.
void unflatten(UOp flat, Shape shape, std::int64_t begin, std::int64_t end, IndexVector& out) {
  for (std::int64_t axis = end; axis-- > begin;) {
    const std::int64_t size = shape[at(axis)];
    if (axis == begin) {
      out[axis] = size == 1 ? constant_like(flat, 0) : flat;
    } else {
      out[axis] = flat % size;
      flat = flat / size;
    }
  }
}

// Axes are regrouped in the smallest blocks of equal size on both sides, so that an axis that a
// reshape leaves alone costs nothing.
IndexVector regrouped(Shape from, Shape to, const IndexVector& index, Graph& graph) {
  IndexVector result(static_cast<std::int64_t>(from.size()), graph.index(0));
  const auto from_rank = static_cast<std::int64_t>(from.size());
  const auto to_rank = static_cast<std::int64_t>(to.size());
  std::int64_t i = 0, j = 0;
  while (i < from_rank && j < to_rank) {
    const std::int64_t from_begin = i, to_begin = j;
    std::int64_t from_size = from[at(i++)], to_size = to[at(j++)];
    while (from_size != to_size) {
      if (from_size < to_size) {
        from_size *= from[at(i++)];
      } else {
        to_size *= to[at(j++)];
      }
    }
    const UOp flat = flat_index(std::span(index.data() + to_begin, at(j - to_begin)),
                                to.subspan(at(to_begin), at(j - to_begin)), graph);
    unflatten(flat, from, from_begin, i, result);
  }
  return result;  // axes left over on either side have size 1
}

void through_pad(Shape from, Shape arg, Position& p) {
  for (std::int64_t axis = 0; axis < p.index.size(); axis++) {
    const std::int64_t before = arg[at(2 * axis)], after = arg[at(2 * axis + 1)];
    if (before == 0 && after == 0) continue;
    p.index[axis] = p.index[axis] - before;
    p.gate = both(p.gate, within(p.index[axis], 0, from[at(axis)]));
  }
}

// arg: {axis, length, stride, dilation}; the source's axis counts windows, its last axis is k.
void through_unwindow(Shape from, Shape arg, Position& p) {
  const std::int64_t axis = arg[0], stride = arg[2], dilation = arg[3];
  const UOp start = p.index[axis] - p.index.back() * dilation;
  if (stride > 1) p.gate = both(p.gate, equal(start % stride, 0));
  p.index[axis] = start / stride;
  p.gate = both(p.gate, within(p.index[axis], 0, from[at(axis)]));
}

void through_window(Shape arg, Position& p) {
  const UOp k = p.index.back();
  p.index.pop_back();
  p.index[arg[0]] = p.index[arg[0]] * arg[2] + k * arg[3];
}

}  // namespace

UOp within(UOp x, std::int64_t lo, std::int64_t hi) {
  Graph& g = x.graph();
  UOp result = g.boolean(true);
  if (x.lo() < lo) result = both(result, less(g.index(lo - 1), x));
  if (x.hi() >= hi) result = both(result, less(x, hi));
  return result;
}

UOp both(UOp a, UOp b) {
  if (a.is_const()) return a.const_int() ? b : a;
  if (b.is_const()) return b.const_int() ? a : b;
  return a == b ? a : a & b;
}

UOp flat_index(std::span<const UOp> index, Shape shape, Graph& graph) {
  UOp flat = graph.index(0);
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    flat = flat * shape[axis];
    if (shape[axis] != 1) flat = flat + index[axis];
  }
  return flat;
}

Position through_reshape(Shape from, Shape to, const Position& position) {
  return {regrouped(from, to, position.index, position.gate.graph()), position.gate};
}

Position through_movement(UOp u, const Position& position) {
  const UOp x = u.src(0);
  const Shape arg = u.arg().as_ints();
  Position p = position;
  switch (u.op()) {
    case Op::Reshape: return through_reshape(x.shape(), u.shape(), position);
    case Op::Expand:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        if (x.shape()[at(i)] == 1) p.index[i] = u.graph().index(0);
      }
      break;
    case Op::Permute:
      for (std::int64_t i = 0; i < p.index.size(); i++) p.index[arg[at(i)]] = position.index[i];
      break;
    case Op::Flip:
      for (std::int64_t i = 0; i < p.index.size(); i++) {
        if (arg[at(i)]) p.index[i] = p.index[i] * -1 + (u.shape()[at(i)] - 1);
      }
      break;
    case Op::Pad: through_pad(x.shape(), arg, p); break;
    case Op::Shrink:
      for (std::int64_t i = 0; i < p.index.size(); i++) p.index[i] = p.index[i] + arg[at(2 * i)];
      break;
    case Op::Window: through_window(arg, p); break;
    case Op::Unwindow: through_unwindow(x.shape(), arg, p); break;
    default: break;
  }
  return p;
}

}  // namespace croze
