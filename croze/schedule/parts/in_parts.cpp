// in_parts.cpp -- a reduction as one of parts and one of what they come to; a Scatter likewise.
//
// The parts are combined in order, so a result is the same in every run; and as partial sums are
// shorter, they are nearer to the truth.
#include "croze/schedule/parts/in_parts.h"

#include <algorithm>
#include <vector>

#include "croze/base/small_vector.h"
#include "croze/graph/eval.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/kernels.h"
#include "croze/schedule/parts/parts.h"
#include "croze/schedule/parts/scatter.h"

namespace croze {
namespace {

using Numbers = SmallVector<std::int64_t, 8>;

UOp moved(Op op, UOp x, const Numbers& arg) {
  return x.graph().movement(op, x, std::span<const std::int64_t>(arg));
}

// An axis, in so many parts of so many elements.
struct Cut {
  std::int64_t axis = 0, parts = 1, length = 0;
};

std::int64_t divisor_within(std::int64_t size, std::int64_t least, std::int64_t most) {
  for (std::int64_t n = std::min(size / 2, most); n >= least; n--) {
    if (size % n == 0) return n;
  }
  return 1;
}

// The first axis that parts divide; if they need not, else the longest.
Cut cut_of(UOp u, const Parts& wanted) {
  const auto shape = u.src(0).shape();
  Cut longest;
  for (std::int64_t axis : u.arg().as_ints().subspan(1)) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    const std::int64_t parts = divisor_within(size, wanted.least, wanted.most);
    if (parts > 1) return {axis, parts, size / parts};
    if (size > longest.length) longest = {axis, 1, size};
  }
  const std::int64_t parts = std::min(longest.length / 2, wanted.most);
  if (!wanted.may_differ || parts < 2) return {};
  // Parts begin where vectors do.
  constexpr std::int64_t aligned = 16;
  std::int64_t length = (longest.length + parts - 1) / parts;
  if (length > aligned * aligned) length = (length + aligned - 1) / aligned * aligned;
  return {longest.axis, (longest.length + length - 1) / length, length};
}

UOp filled_with(UOp number, std::span<const std::int64_t> shape) {
  const UOp one = moved(Op::Reshape, number, Numbers(std::ssize(shape), 1));
  return number.graph().movement(Op::Expand, one, shape);
}

// `x` with what changes nothing behind the end of the axis.
UOp filled(UOp x, Op reduce, std::int64_t axis, std::int64_t count) {
  if (count == 0) return x;
  Numbers padding;
  for (std::int64_t i = 0; i < x.rank(); i++) {
    padding.push_back(0);
    padding.push_back(i == axis ? count : 0);
  }
  Graph& g = x.graph();
  const UOp wide = moved(Op::Pad, x, padding);
  const std::int64_t identity = identity_of(reduce, x.dtype());
  if (identity == identity_of(Op::Add, x.dtype())) return wide;
  const UOp is_there = moved(Op::Pad, filled_with(g.boolean(true), x.shape()), padding);
  return where(is_there, wide, filled_with(g.constant_bits(x.dtype(), identity), wide.shape()));
}

bool is_same_along(UOp x, std::int64_t axis) {
  return x.is(Op::Expand) && x.src(0).shape()[static_cast<std::size_t>(axis)] == 1;
}

// The same of such a view, with more of what is there.
UOp longer(UOp x, std::int64_t axis, std::int64_t count) {
  Numbers shape(x.shape());
  shape[axis] += count;
  return moved(Op::Expand, x.src(0), shape);
}

struct InParts {
  UOp parts, whole;  // what is stored, and the result; null where nothing is cut
};

// `x` with an axis cut in two, the first of which has `parts`, or the second where they
// `alternate`.
UOp cut_axis(UOp x, const Cut& c, bool alternate = false) {
  Numbers shape;
  for (std::int64_t i = 0; i < x.rank(); i++) {
    const std::int64_t size = x.shape()[static_cast<std::size_t>(i)];
    if (i == c.axis) shape.push_back(alternate ? c.length : c.parts);
    shape.push_back(i != c.axis ? size : alternate ? c.parts : c.length);
  }
  return moved(Op::Reshape, x, shape);
}

InParts reduced_in_parts(UOp u, const Caps& caps) {
  const Parts wanted = parts_of(u, caps);
  const Cut c = wanted.most > 1 ? cut_of(u, wanted) : Cut{};
  if (c.parts <= 1) return {};
  Graph& g = u.graph();
  const auto axes = u.arg().as_ints().subspan(1);
  const UOp x = u.src(0);
  const std::int64_t size = x.shape()[static_cast<std::size_t>(c.axis)];
  const UOp even = filled(x, u.reduce_op(), c.axis, c.parts * c.length - size);
  Numbers inner;
  for (std::int64_t a : axes) inner.push_back(a < c.axis ? a : a + 1);
  UOp partial = g.reduce_axes(u.reduce_op(), cut_axis(even, c), inner);
  std::int64_t axis = c.axis;
  if (u.elements() >= c.parts) {  // neighbours have neighbouring results
    Numbers order{axis};
    for (std::int64_t i = 0; i < partial.rank(); i++) {
      if (i != axis) order.push_back(i);
    }
    partial = moved(Op::Permute, partial, order);
    axis = 0;
  }
  const UOp stored = g.make(Op::Contiguous, x.dtype(), {partial});
  const UOp whole = g.reduce_axes(u.reduce_op(), stored, std::span(&axis, 1));
  return {stored, g.make(Op::Reshape, x.dtype(), {whole}, Arg(u.shape()))};
}

// ---- scatters ---------------------------------------------------------------------------------

// The longest axis of values that may meet, and how many meet and do not.
struct Meeting {
  std::int64_t axis = -1, serial = 1, parallel = 1;
};

Meeting meeting_of(UOp scatter) {
  Meeting m;
  const auto shape = scatter.src(1).shape();
  const std::vector<bool> serial = serial_axes(scatter);
  for (std::size_t i = 0; i < shape.size(); i++) {
    (serial[i] ? m.serial : m.parallel) *= shape[i];
    const bool is_longer = m.axis < 0 || shape[i] > shape[static_cast<std::size_t>(m.axis)];
    if (serial[i] && is_longer) m.axis = static_cast<std::int64_t>(i);
  }
  return m;
}

// Every so many of the values go to places of their own, along another axis, the last one; and
// these are combined with each other and with what was there.
InParts scattered_in_parts(UOp u, const Caps& caps) {
  const UOp value = u.src(1);
  if (u.arg().value == 0 || u.has_open_shape() || value.has_open_shape()) return {};
  if (value.elements() == 0 || u.elements() == 0) return {};
  const Meeting m = meeting_of(u);
  if (m.axis < 0) return {};
  const std::int64_t parts = parts_of_scatter(u, m.serial, m.parallel, caps);
  if (parts == 1) return {};
  const std::int64_t size = value.shape()[static_cast<std::size_t>(m.axis)];
  const Cut c{m.axis, std::min(parts, size), (size + parts - 1) / parts};
  const std::int64_t missing = c.parts * c.length - size;
  Graph& g = u.graph();
  const auto in_two = [&](UOp x) {
    const bool is_same = missing > 0 && is_same_along(x, c.axis);
    const UOp even =
        is_same ? longer(x, c.axis, missing) : filled(x, u.reduce_op(), c.axis, missing);
    return cut_axis(even, c, /*alternate=*/true);
  };
  Numbers places, line;
  for (std::int64_t n : u.shape()) places.push_back(n);
  places.push_back(c.parts);
  const UOp identity = g.constant_bits(u.dtype(), identity_of(u.reduce_op(), u.dtype()));
  std::vector<UOp> src{filled_with(identity, places), in_two(value)};
  for (int i = 2; i < u.num_src(); i++) src.push_back(in_two(u.src(i)));
  for (std::int64_t i = 0; i < src[1].rank(); i++) line.push_back(i == c.axis + 1 ? c.parts : 1);
  src.push_back(g.movement(Op::Expand, moved(Op::Reshape, g.iota(c.parts), line), src[1].shape()));
  const UOp partial = g.make(Op::Scatter, u.dtype(), src, u.arg());
  const std::int64_t last = u.rank();
  const UOp whole = g.reduce_axes(u.reduce_op(), partial, std::span(&last, 1));
  const UOp shaped = g.make(Op::Reshape, u.dtype(), {whole}, Arg(u.shape()));
  return {partial, g.alu(u.reduce_op(), {u.src(0), shaped})};
}

InParts in_parts_of(UOp u, const Caps& caps) {
  if (u.is(Op::Reduce)) return reduced_in_parts(u, caps);
  return u.is(Op::Scatter) ? scattered_in_parts(u, caps) : InParts{};
}

// Makes the graph anew, sources first.
class Rewriter {
 public:
  Rewriter(const CanonicalGraph& graph, const Caps& caps)
      : result_{graph, {}},
        graph_(*graph.graph),
        caps_(caps),
        known_(graph_.id_limit()),
        copies_(graph_),
        loose_(graph_) {}

  GraphInParts run() {
    for (UOp u : toposort(result_.graph.roots)) copies_.set(u, copy_of(u));
    for (UOp& root : result_.graph.roots) root = copies_.get(root);
    return std::move(result_);
  }

 private:
  UOp copy_of(UOp u) {
    std::vector<UOp> src;
    bool differs = false, is_loose = false;
    for (UOp s : u.sources()) {
      const UOp copy = copies_.get(s);
      is_loose = is_loose || loose_.get(copy);
      src.push_back(u.is(Op::Expand) ? stored(copy, s) : copy);
      differs = differs || src.back() != s;
    }
    UOp copy = differs ? graph_.make(u.op(), u.dtype(), src, u.arg()) : u;
    const InParts made = in_parts_of(copy, caps_);
    if (made.whole) {
      stand_for(made.parts, u);
      copy = made.whole;
    }
    stand_for(copy, u);
    const bool is_view = is_movement(u.op()) || u.is(Op::Detach);
    const bool goes_on = is_loose && !u.is(Op::Expand) && (is_view || is_elementwise(u.op()));
    loose_.set(copy, made.whole || goes_on);
    return copy;
  }

  // What the parts of few results come to, and what is made of it, is stored before many read it:
  // else what they make of it would be stored for the next reduction, which is far more.
  UOp stored(UOp copy, UOp u) {
    if (!caps_.runs_warps() || !loose_.get(copy)) return copy;
    const UOp result = graph_.make(Op::Contiguous, copy.dtype(), {copy});
    stand_for(result, u);
    return result;
  }

  void stand_for(UOp made, UOp u) {
    if (made.id() >= known_) result_.stands_for.emplace(made.id(), u.id());
  }

  GraphInParts result_;
  Graph& graph_;
  const Caps& caps_;
  const std::uint32_t known_;  // ids below are those of nodes of the graph that came in
  NodeMap<UOp> copies_;
  NodeMap<bool> loose_;  // what comes of parts, and has no memory yet
};

}  // namespace

GraphInParts in_parts(const CanonicalGraph& graph, const ScheduleContext& context) {
  if (graph.roots.empty()) return {graph, {}};
  return Rewriter(graph, main_caps(graph, context)).run();
}

}  // namespace croze
