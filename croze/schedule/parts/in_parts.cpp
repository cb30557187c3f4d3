// in_parts.cpp -- a reduction as one of parts and one of what they come to; a Scatter likewise.
//
// The parts are combined in order, so a result is the same in every run; and as partial sums are
// shorter, they are nearer to the truth.
#include "croze/schedule/parts/in_parts.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "croze/graph/eval.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/kernels.h"
#include "croze/schedule/parts/cut.h"
#include "croze/schedule/parts/led_parts.h"
#include "croze/schedule/parts/parts.h"
#include "croze/schedule/parts/scatter.h"

namespace croze {
namespace {

struct InParts {
  UOp parts, whole;  // what is stored, and the result; null where nothing is cut
};

InParts reduced_in_parts(UOp u, const Caps& caps, std::vector<CutReduction>& known) {
  for (const CutReduction& leader : known) {
    if (const auto led = led_in_parts(u, leader)) return {led->stored, led->whole};
  }
  const Parts wanted = parts_of(u, caps);
  const Cut c = wanted.most > 1 ? cut_of(u, wanted) : Cut{};
  if (c.parts <= 1) return {};
  const UOp even = cut_longer(u.src(0), c, u.reduce_op());
  const StoredParts stored = stored_parts(u, c, even);
  const UOp whole = joined(u, c, stored.parts);
  known.push_back({u, whole, stored.parts, c});
  return {stored.stored, whole};
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
  Graph& g = u.graph();
  const auto in_two = [&](UOp x) { return cut_longer(x, c, u.reduce_op(), /*alternate=*/true); };
  Numbers places, line;
  for (std::int64_t n : u.shape()) places.push_back(n);
  places.push_back(c.parts);
  const UOp identity = g.constant_bits(u.dtype(), identity_of(u.reduce_op(), u.dtype()));
  std::vector<UOp> src{filled_with(identity, places), in_two(value)};
  for (int i = 2; i < u.num_src(); i++) src.push_back(in_two(u.src(i)));
  for (std::int64_t i = 0; i < src[1].rank(); i++) line.push_back(i == c.axis + 1 ? c.parts : 1);
  src.push_back(
      g.movement(Op::Expand, view_of(Op::Reshape, g.iota(c.parts), line), src[1].shape()));
  const UOp partial = g.make(Op::Scatter, u.dtype(), src, u.arg());
  const std::int64_t last = u.rank();
  const UOp whole = g.reduce_axes(u.reduce_op(), partial, std::span(&last, 1));
  const UOp shaped = g.make(Op::Reshape, u.dtype(), {whole}, Arg(u.shape()));
  return {partial, g.alu(u.reduce_op(), {u.src(0), shaped})};
}

InParts in_parts_of(UOp u, const Caps& caps, std::vector<CutReduction>& known) {
  if (u.is(Op::Reduce)) return reduced_in_parts(u, caps, known);
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
    const InParts made = in_parts_of(copy, caps_, cut_);
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
  std::vector<CutReduction> cut_;
  NodeMap<bool> loose_;  // what comes of parts, and has no memory yet
};

}  // namespace

GraphInParts in_parts(const CanonicalGraph& graph, const ScheduleContext& context) {
  if (graph.roots.empty()) return {graph, {}};
  return Rewriter(graph, main_caps(graph, context)).run();
}

}  // namespace croze
