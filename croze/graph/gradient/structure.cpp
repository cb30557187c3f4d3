// structure.cpp -- derivatives of the ops that move, combine, pick or store elements.
//
// Each is linear in its float source, so its derivative is the transposed map: a copy of an element
// becomes a sum into it.  Expand and Reduce are each other's transpose, and so are Pad and Shrink,
// Window and Unwindow (with the sum over windows), Gather and Scatter.
#include "croze/graph/gradient/structure.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/analysis/derive.h"
#include "croze/graph/graph.h"

namespace croze {

UOp moved(Op op, UOp x, const Dims& arg) {
  const bool same = (op == Op::Reshape || op == Op::Expand) && std::ranges::equal(x.shape(), arg);
  return same ? x : x.graph().movement(op, x, arg);
}

UOp expanded(UOp x, std::span<const std::int64_t> shape) {
  if (x.rank() == 0 && !shape.empty()) {
    x = moved(Op::Reshape, x, Dims(static_cast<std::int64_t>(shape.size()), 1));
  }
  return moved(Op::Expand, x, shape);
}

namespace {

UOp reshaped(UOp x, std::span<const std::int64_t> shape) { return moved(Op::Reshape, x, shape); }

// Sum over axes, which stay with size 1.  Half types accumulate in Float32.
UOp summed(UOp x, const Dims& axes) {
  if (axes.empty()) return x;
  Graph& graph = x.graph();
  const UOp sum = graph.reduce_axes(Op::Add, graph.cast(x, accumulator(x.dtype())), axes);
  return graph.cast(sum, x.dtype());
}

// 0, 1, 2, .. along one axis of `shape`, of dtype Index.
UOp positions(Graph& graph, const Dims& shape, std::int64_t axis) {
  Dims aligned(shape.size(), 1);
  aligned[axis] = shape[axis];
  return expanded(reshaped(graph.iota(shape[axis]), aligned), shape);
}

// ---- movement ---------------------------------------------------------------------------------

UOp unpermuted(UOp g, std::span<const std::int64_t> order) {
  Dims inverse(static_cast<std::int64_t>(order.size()));
  for (std::size_t i = 0; i < order.size(); i++) inverse[order[i]] = static_cast<std::int64_t>(i);
  return moved(Op::Permute, g, inverse);
}

// The inside of what was padded: {before, before + size} per axis.
UOp unpadded(UOp g, std::span<const std::int64_t> arg, std::span<const std::int64_t> inner) {
  Dims bounds;
  for (std::size_t i = 0; i < inner.size(); i++) {
    bounds.push_back(arg[2 * i]);
    bounds.push_back(arg[2 * i] + inner[i]);
  }
  return moved(Op::Shrink, g, bounds);
}

UOp unshrunk(UOp g, std::span<const std::int64_t> arg, std::span<const std::int64_t> outer) {
  Dims amounts;
  for (std::size_t i = 0; i < outer.size(); i++) {
    amounts.push_back(arg[2 * i]);
    amounts.push_back(outer[i] - arg[2 * i + 1]);
  }
  return moved(Op::Pad, g, amounts);
}

// Each element collects from the windows it was in: g (.., o, .., k) spread to (.., p, .., k),
// summed over k.
UOp unwindowed(UOp g, std::span<const std::int64_t> arg, std::span<const std::int64_t> outer) {
  const UOp spread =
      moved(Op::Unwindow, g, {arg[0], outer[static_cast<std::size_t>(arg[0])], arg[2], arg[3]});
  return reshaped(summed(spread, {g.rank() - 1}), outer);
}

// The source of an Unwindow: element (.., o, .., k) went to p = o * stride + k * dilation.
UOp picked_from_spread(UOp g, std::span<const std::int64_t> arg, const Dims& inner) {
  Graph& graph = g.graph();
  const std::int64_t last = inner.size() - 1;
  SmallVector<UOp, 9> src{g};
  for (std::int64_t axis = 0; axis <= last; axis++) {
    const UOp at = positions(graph, inner, axis);
    src.push_back(axis != arg[0] ? at : at * arg[2] + positions(graph, inner, last) * arg[3]);
  }
  return graph.make(Op::Gather, g.dtype(), std::span<const UOp>(src));
}

UOp unmoved(UOp u, UOp g) {
  const UOp x = u.src(0);
  const std::span<const std::int64_t> arg = u.arg().as_ints();
  switch (u.op()) {
    case Op::Reshape: return reshaped(g, x.shape());
    case Op::Expand: return fit_gradient(g, x);
    case Op::Permute: return unpermuted(g, arg);
    case Op::Flip: return moved(Op::Flip, g, arg);
    case Op::Pad: return unpadded(g, arg, x.shape());
    case Op::Shrink: return unshrunk(g, arg, x.shape());
    case Op::Window: return unwindowed(g, arg, x.shape());
    default: return picked_from_spread(g, arg, x.shape());  // Unwindow
  }
}

// ---- reductions -------------------------------------------------------------------------------

// Equal extremes share.
UOp to_extremes(UOp u, UOp g) {
  const UOp x = u.src(0);
  const UOp is_extreme = equal(x, expanded(u, x.shape()));
  const UOp count = summed(cast(is_extreme, x.dtype()), u.arg().as_ints().subspan(1));
  return where(is_extreme, expanded(g / count, x.shape()), constant_like(x, 0));
}

// Each factor gets the product of the others: the product divided by it, unless it or another is
// zero.
UOp to_factors(UOp u, UOp g) {
  const UOp x = u.src(0);
  const Dims axes(u.arg().as_ints().subspan(1));
  const UOp zero = constant_like(x, 0), one = constant_like(x, 1);
  const UOp is_zero = equal(x, zero);
  const UOp nonzero = where(is_zero, one, x);
  const UOp product = expanded(u.graph().reduce_axes(Op::Mul, nonzero, axes), x.shape());
  const UOp zeros = expanded(summed(cast(is_zero, x.dtype()), axes), x.shape());
  const UOp others = where(is_zero, where(equal(zeros, one), product, zero),
                           where(equal(zeros, zero), product / nonzero, zero));
  return expanded(g, x.shape()) * others;
}

UOp unreduced(UOp u, UOp g) {
  switch (u.reduce_op()) {
    case Op::Add: return expanded(g, u.src(0).shape());
    case Op::Mul: return to_factors(u, g);
    default: return to_extremes(u, g);  // Max, Min
  }
}

// ---- gather and scatter -----------------------------------------------------------------------

UOp with_places(Op op, UOp first, UOp second, UOp places_of, int skip, Arg arg) {
  SmallVector<UOp, 10> src{first};
  if (second) src.push_back(second);
  for (int i = skip; i < places_of.num_src(); i++) src.push_back(places_of.src(i));
  return first.graph().make(op, first.dtype(), std::span<const UOp>(src), arg);
}

// Added where they came from, in Float32 for half types.
UOp ungathered(UOp u, UOp g) {
  const UOp x = u.src(0);
  Graph& graph = u.graph();
  const DType wide = accumulator(x.dtype());
  const UOp base = graph.cast(filled_with(x, 0), wide);
  const UOp sum = with_places(Op::Scatter, base, graph.cast(expanded(g, u.shape()), wide), u, 1,
                              Arg(static_cast<std::int64_t>(Op::Add)));
  return graph.cast(sum, x.dtype());
}

UOp gathered(UOp from, UOp scatter) { return with_places(Op::Gather, from, UOp(), scatter, 2, {}); }

UOp scattered(UOp base, UOp value, UOp scatter, std::int64_t arg) {
  return with_places(Op::Scatter, base, value, scatter, 2, Arg(arg));
}

// A product at each place: every factor gets the product of the others, so that factors of 0 make
// no trouble.
Partials to_scattered_factors(UOp u, UOp g) {
  const UOp base = u.src(0), value = u.src(1);
  const UOp zero = constant_like(value, 0), one = constant_like(value, 1);
  const UOp is_zero = equal(value, zero);
  const auto times = static_cast<std::int64_t>(Op::Mul), plus = static_cast<std::int64_t>(Op::Add);
  const UOp nonzero = where(is_zero, one, value);
  const UOp product = gathered(scattered(base, nonzero, u, times), u);
  const UOp zeros =
      gathered(scattered(filled_with(base, 0), cast(is_zero, value.dtype()), u, plus), u);
  const UOp others = where(is_zero, where(equal(zeros, one), product, zero),
                           where(equal(zeros, zero), product / nonzero, zero));
  return {g * scattered(filled_with(base, 1), value, u, times), gathered(g, u) * others};
}

// An extreme at each place: those that are equal to it share.
Partials to_scattered_extremes(UOp u, UOp g) {
  const UOp base = u.src(0), value = u.src(1);
  const UOp base_hits = equal(base, u), value_hits = equal(value, gathered(u, u));
  const UOp hits = scattered(cast(base_hits, base.dtype()), cast(value_hits, value.dtype()), u,
                             static_cast<std::int64_t>(Op::Add));
  const UOp share = g / hits;
  return {where(base_hits, share, constant_like(base, 0)),
          where(value_hits, gathered(share, u), constant_like(value, 0))};
}

// Where positions repeat, an overwriting Scatter gives each value the gradient of the place, as
// PyTorch does.
Partials unscattered(UOp u, UOp g, std::span<const bool> wanted) {
  g = expanded(g, u.shape());
  Partials result{UOp(), UOp()};
  switch (u.reduce_op()) {
    case Op::Mul: result = to_scattered_factors(u, g); break;
    case Op::Max:
    case Op::Min: result = to_scattered_extremes(u, g); break;
    default: {
      const bool adds = u.reduce_op() == Op::Add;
      if (wanted[0]) result[0] = adds ? g : scattered(g, filled_with(u.src(1), 0), u, 0);
      if (wanted[1]) result[1] = gathered(g, u);
    }
  }
  result.resize(u.num_src());
  return result;
}

// ---- memory and devices -----------------------------------------------------------------------

// The device of the first Buffer or Copy below; -1 if there is none.
int device_below(UOp root) {
  std::vector<UOp> stack{root};
  std::vector<const Node*> seen;
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (u.is(Op::Buffer)) return u.buffer_device();
    if (u.is(Op::Copy)) return static_cast<int>(u.arg().value);
    if (std::ranges::find(seen, u.node()) != seen.end()) continue;
    seen.push_back(u.node());
    for (UOp s : u.sources()) stack.push_back(s);
  }
  return -1;
}

UOp copied_back(UOp u, UOp g) {
  const int device = device_below(u.src(0));
  return device < 0 ? g : u.graph().make(Op::Copy, g.dtype(), {g}, Arg(device));
}

// The movements that lead from `base` to `place`, first to last.
std::vector<UOp> movements_between(UOp base, UOp place) {
  std::vector<UOp> path;
  for (; place != base; place = place.src(0)) {
    ensure(is_movement(place.op()), "a store into {}, which is no view of what follows it",
           info(place.op()).name);
    path.push_back(place);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// After(x, Store(view of x, value)): the value gets the gradient of the view, x that of the rest.
Partials unstored(UOp u, UOp g) {
  Partials result;
  result.resize(u.num_src());
  g = expanded(g, u.shape());
  // The last store comes first: what it overwrote gets nothing.
  for (int i = u.num_src() - 1; i > 0; i--) {
    if (!u.src(i).is(Op::Store)) continue;
    const std::vector<UOp> path = movements_between(u.src(0), u.src(i).src(0));
    UOp part = g;
    for (UOp m : path) part = moved(m.op(), part, m.arg().as_ints());
    result[i] = part;
    UOp covered = filled_with(part, 1);
    for (auto m = path.rbegin(); m != path.rend(); ++m) covered = unmoved(*m, covered);
    g = path.empty() ? UOp() : where(equal(covered, 0), g, constant_like(g, 0));
    if (!g) return result;
  }
  result[0] = g;
  return result;
}

}  // namespace

UOp filled_with(UOp like, double value) {
  return expanded(like.graph().constant(like.dtype(), value), like.shape());
}

UOp fit_gradient(UOp g, UOp x) {
  const std::span<const std::int64_t> shape = x.shape();
  if (std::ranges::equal(g.shape(), shape)) return g;
  if (g.rank() == 0) return expanded(g, shape);
  const std::int64_t added = g.rank() - x.rank();
  Dims axes;
  for (std::int64_t i = 0; i < g.rank(); i++) {
    const std::int64_t size = i < added ? 1 : shape[static_cast<std::size_t>(i - added)];
    if (g.shape()[static_cast<std::size_t>(i)] != size) axes.push_back(i);
  }
  return reshaped(summed(g, axes), shape);
}

Partials structural_partials(UOp u, UOp g, std::span<const bool> wanted) {
  if (is_movement(u.op())) return {unmoved(u, expanded(g, u.shape()))};
  switch (u.op()) {
    case Op::Reduce: return {unreduced(u, expanded(g, u.shape()))};
    case Op::Gather: {
      Partials result{ungathered(u, g)};
      result.resize(u.num_src());
      return result;
    }
    case Op::Scatter: return unscattered(u, g, wanted);
    case Op::Contiguous: return {g};
    case Op::ContiguousBackward: return {u.graph().make(Op::Contiguous, g.dtype(), {g})};
    case Op::Copy: return {copied_back(u, g)};
    case Op::Store: {
      Partials result{UOp(), g};
      result.resize(u.num_src());
      return result;
    }
    case Op::After: return unstored(u, g);
    default: break;
  }
  fail_internal({.pass = "gradient", .node = {}}, "{} has no derivative", info(u.op()).name);
}

}  // namespace croze
