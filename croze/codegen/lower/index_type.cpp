// index_type.cpp -- index arithmetic becomes arithmetic on a sized integer.
#include "croze/codegen/lower/index_type.h"

#include <algorithm>
#include <unordered_map>

#include "croze/base/small_vector.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class IndexLowering {
 public:
  IndexLowering(UOp sink, std::span<const UOp> loops, const ItemAxes& items, const Caps& caps)
      : graph_(sink.graph()), order_(toposort(sink)), loops_(loops.begin(), loops.end()) {
    const bool narrow = caps.has_groups || !caps.has_dtype(DType::Int64);
    type_ = narrow && fits_int32() ? DType::Int32 : DType::Int64;
    for (UOp u : order_) {
      if (!u.is(Op::Range)) continue;
      if (u.loop_kind() == LoopKind::Lane) lanes_ = lanes_ | u.ranges();
      if (u.loop_kind() == LoopKind::Item) axis_[u.node()] = items.axis_of.at(u.range_id());
    }
    int groups = 0;
    for (UOp r : loops_) {
      if (r.loop_kind() == LoopKind::Group) axis_[r.node()] = groups++;
      if (r.loop_kind() == LoopKind::Thread) axis_[r.node()] = 0;
    }
  }

  UOp run() {
    for (UOp u : order_) lowered_[u.node()] = lower(u);
    return lowered_.at(order_.back().node());
  }

 private:
  bool fits_int32() const {
    return std::all_of(order_.begin(), order_.end(), [](UOp u) {
      return u.dtype() != DType::Index ||
             (u.lo() >= min_value(DType::Int32) && u.hi() <= max_value(DType::Int32));
    });
  }

  UOp lower(UOp u) {
    if (u.is(Op::Range)) return range(u);
    if (u.is(Op::Const)) return u.dtype() == DType::Index ? number(u.const_int()) : u;
    if (u.is(Op::Variable)) return graph_.make(Op::Variable, type_, {}, u.arg());
    if (u.is(Op::Param)) return graph_.param(u.dtype(), u.slot(), u.elements());
    if (u.dtype() == DType::Index && (u.is(Op::Add) || u.is(Op::Mul))) return sum(u);
    if (u.is(Op::Lt) && u.src(0).dtype() == DType::Index) {
      if (const UOp narrow = lanes_below(u)) return narrow;
    }
    SmallVector<UOp, 8> src;
    const int closed = u.first_closed();
    for (int i = 0; i < u.num_src(); i++) {
      const UOp s = lowered_.at(u.src(i).node());
      if (i >= closed && s.is(Op::Special)) continue;  // no loop to close
      src.push_back(s);
    }
    if (u.is(Op::Cast) && u.dtype() == DType::Index) return graph_.cast(src[0], type_);
    return graph_.with_sources(u, src);
  }

  UOp number(std::int64_t v) { return graph_.constant(type_, v); }

  UOp range(UOp u) {
    auto it = axis_.find(u.node());
    if (it == axis_.end() && !u.is_open()) return graph_.make(Op::Range, type_, {}, u.arg());
    if (it == axis_.end()) {
      return graph_.make(Op::Range, type_, {lowered_.at(u.src(0).node())}, u.arg());
    }
    const std::int64_t arg[] = {it->second, u.range_size(),
                                static_cast<std::int64_t>(u.loop_kind())};
    return graph_.make(Op::Special, type_, {}, Arg(std::span(arg)));
  }

  // How deep in the loop nest an expression varies: outer loops by position, the loops of
  // reductions below them, lanes last.
  std::int64_t depth(UOp u) const {
    std::int64_t deepest = 0;
    RangeSet known;
    for (std::size_t i = 0; i < loops_.size(); i++) {
      known = known | loops_[i].ranges();
      if (!u.varies_over(loops_[i])) continue;
      const bool lane = loops_[i].loop_kind() == LoopKind::Lane;
      deepest = std::max<std::int64_t>(deepest, lane ? 1000 : static_cast<std::int64_t>(i) + 1);
    }
    return (u.ranges() - known).empty() ? deepest : std::max<std::int64_t>(deepest, 500);
  }

  UOp sum(UOp u) {
    const LinearForm form = LinearForm::of(u);
    if (form.terms.size() == 1 && form.terms[0].atom == u) {  // a product of two atoms
      return graph_.alu(u.op(), {lowered_.at(u.src(0).node()), lowered_.at(u.src(1).node())});
    }
    return sum(form);
  }

  UOp sum(LinearForm form) {
    std::stable_sort(form.terms.begin(), form.terms.end(),
                     [&](const Term& a, const Term& b) { return depth(a.atom) < depth(b.atom); });
    UOp result;
    for (const Term& t : form.terms) {
      UOp term = lowered_.at(t.atom.node());
      if (t.coefficient != 1) term = graph_.alu(Op::Mul, {term, number(t.coefficient)});
      result = result ? graph_.make(Op::Add, type_, {result, term}) : term;
    }
    if (!result) return number(form.constant);
    if (form.constant != 0) result = graph_.make(Op::Add, type_, {result, number(form.constant)});
    return result;
  }

  // The mask of a vector at the end of a row: lanes are compared in 32 bits, all at once, with the
  // scalar that tells how many are left.  Null if there are no lanes, or 32 bits do not hold it.
  UOp lanes_below(UOp comparison) {
    LinearForm left = LinearForm::of(comparison.src(1));
    left.add(LinearForm::of(comparison.src(0)), -1);
    LinearForm lanes, rest;
    rest.constant = left.constant;
    for (const Term& t : left.terms) {
      const bool varies = t.atom.ranges().intersects(lanes_);
      if (varies) lanes.add(t.atom, -t.coefficient);
      if (!varies) rest.add(t.atom, t.coefficient);
    }
    const auto fits = [](const Bounds& b) {
      return b.lo >= min_value(DType::Int32) && b.hi <= max_value(DType::Int32);
    };
    if (lanes.terms.empty() || !fits(lanes.bounds()) || !fits(rest.bounds())) return {};
    const UOp narrow[] = {graph_.cast(sum(lanes), DType::Int32),
                          graph_.cast(sum(rest), DType::Int32)};
    return graph_.alu(Op::Lt, narrow);
  }

  Graph& graph_;
  std::vector<UOp> order_;
  std::vector<UOp> loops_;
  DType type_;
  RangeSet lanes_;
  std::unordered_map<const Node*, std::int64_t> axis_;
  std::unordered_map<const Node*, UOp> lowered_;
};

}  // namespace

UOp lower_index_type(UOp sink, std::span<const UOp> loops, const ItemAxes& items,
                     const Caps& caps) {
  return IndexLowering(sink, loops, items, caps).run();
}

}  // namespace croze
