// led_parts.cpp -- what parts come to is moved to what the leader comes to in the end.
//
//     m = reduce max x                       M = reduce max x, in each part
//     s = reduce add exp(x - m)              S = reduce add exp(x - M), in each part
// is then
//     m = reduce max M                       s = reduce add S * exp(M - m)
// so a part is read from memory once for both.  The laws are those by which one pass makes both
// (rules/transport.h); they speak of single elements, so the term of a reduction of tensors is
// written as one of numbers first.
#include "croze/schedule/parts/led_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/follow.h"

namespace croze {
namespace {

// Terms of numbers: each tensor that a term is computed from is a variable.
class NumberTerms {
 public:
  // Of tensors that `reduce` or its leader reduces, `leader` being what the latter comes to.
  NumberTerms(UOp leader, UOp reduce)
      : graph_(leader.graph()), leader_(leader), reduce_(reduce), numbers_(graph_) {}

  UOp of(UOp root) {
    std::vector<UOp> pending{root};
    while (!pending.empty()) {
      const UOp u = pending.back();
      if (numbers_.get(u)) {
        pending.pop_back();
        continue;
      }
      const std::size_t before = pending.size();
      for (int i = 0; is_made(u) && i < u.num_src(); i++) {
        if (!numbers_.get(u.src(i))) pending.push_back(u.src(i));
      }
      if (pending.size() > before) continue;
      numbers_.set(u, made(u));
      pending.pop_back();
    }
    return numbers_.get(root);
  }

  // What the leader comes to; null where no term has asked for it.
  UOp leader() const { return numbers_.get(leader_); }

  // Each variable but the leader's, and the tensor that it stands for.
  const std::vector<std::pair<UOp, UOp>>& tensors() const { return tensors_; }

 private:
  // A result, which all its terms read.
  bool is_result(UOp u) const { return std::ranges::equal(u.shape(), reduce_.shape()); }

  // Whether the number of an element is made of those of the sources, or is that of the source.
  bool is_made(UOp u) const {
    if (u == leader_ || u.num_src() == 0) return false;
    const bool is_view = u.is(Op::Expand) && is_result(u.src(0));
    const bool is_same = u.is(Op::Detach) || (u.is(Op::Contiguous) && is_result(u));
    return is_elementwise(u.op()) || is_view || is_same;
  }

  UOp made(UOp u) {
    if (u.is_const()) return u;
    if (!is_made(u)) return variable(u);
    if (!is_elementwise(u.op())) return numbers_.get(u.src(0));
    std::vector<UOp> src;
    for (UOp s : u.sources()) src.push_back(numbers_.get(s));
    return graph_.with_sources(u, src);
  }

  // Slots below zero are of no variable that the graph has.
  UOp variable(UOp u) {
    const bool counts = is_integral(u.dtype());
    const std::int64_t arg[] = {-1 - next_++, counts ? u.lo() : 0, counts ? u.hi() : 0};
    const UOp number = graph_.make(Op::Variable, u.dtype(), {}, Arg(std::span(arg)));
    if (u != leader_) tensors_.emplace_back(number, u);
    return number;
  }

  Graph& graph_;
  const UOp leader_, reduce_;
  NodeMap<UOp> numbers_;
  std::vector<std::pair<UOp, UOp>> tensors_;
  std::int64_t next_ = 0;
};

// A reduction in parts under centres of their own, and what they come to under that of all.
class Moving {
 public:
  Moving(UOp reduce, const CutReduction& leader, const NumberTerms& terms,
         const Following& following)
      : graph_(reduce.graph()),
        reduce_(reduce),
        leader_(leader),
        terms_(terms),
        following_(following),
        law_(transports()[static_cast<std::size_t>(following.law)]) {}

  LedParts run(UOp value) {
    const StoredParts made = stored_parts(reduce_, leader_.cut, of_part(value));
    const auto shape = made.parts.shape();
    const UOp before = centre_of(law_, leader_.parts, terms_of_part());
    const UOp after = spread(centre_of(law_, leader_.whole, terms_in_all()), shape);
    const UOp parts = moved(law_, op(), made.parts, before, after, terms_of_part());
    return {made.stored, finished(joined(reduce_, leader_.cut, parts))};
  }

 private:
  Op op() const { return reduce_.reduce_op(); }
  UOp identity() const {
    return graph_.constant_bits(reduce_.dtype(), identity_of(op(), reduce_.dtype()));
  }

  std::int64_t terms() const { return reduce_.src(0).elements() / reduce_.elements(); }
  std::int64_t size() const {
    return reduce_.src(0).shape()[static_cast<std::size_t>(leader_.cut.axis)];
  }
  std::int64_t missing() const { return leader_.cut.missing(size()); }
  UOp terms_in_all() const { return graph_.index(terms()); }
  UOp terms_of_part() const { return graph_.index(terms() / size() * leader_.cut.length); }

  // Of a tensor that has the shape of results, in each place of a tensor that is cut.
  UOp spread(UOp x, std::span<const std::int64_t> shape) const {
    Numbers line(x.shape());
    line.insert(line.begin() + leader_.cut.axis, 1);
    return view_of(Op::Expand, view_of(Op::Reshape, x, line), Numbers(shape));
  }

  // The terms of each part under its own centre.
  UOp of_part(UOp value) const {
    if (following_.law == equality_law) value = where(value.src(0), value.src(1), identity());
    const UOp is_there = is_in_tensor();
    const auto shape = is_there.shape();
    const UOp centre = centre_of(law_, leader_.parts, terms_of_part());
    std::vector<std::pair<UOp, UOp>> tensors{
        {following_.centre, view_of(Op::Expand, centre, Numbers(shape))}};
    for (const auto& [number, tensor] : terms_.tensors()) {
      tensors.emplace_back(number, cut(tensor, shape));
    }
    const UOp terms = substitute(value, tensors);
    return missing() == 0 ? terms : where(is_there, terms, identity());
  }

  // Of a scalar, of results, or of what is reduced.
  UOp cut(UOp tensor, std::span<const std::int64_t> shape) const {
    if (tensor.rank() == 0) return tensor;
    if (std::ranges::equal(tensor.shape(), reduce_.shape())) return spread(tensor, shape);
    return cut_longer(tensor, leader_.cut, Op::Add);
  }

  // False behind the end of the axis that is cut.
  UOp is_in_tensor() const {
    const UOp all = filled_with(graph_.boolean(true), reduce_.src(0).shape());
    return cut_axis(filled(all, Op::Max, leader_.cut.axis, missing()), leader_.cut);
  }

  // What the terms would have come to under the centre that they were written with.
  UOp finished(UOp result) const {
    if (following_.law == equality_law) return graph_.alu(op(), {result, following_.without});
    if (following_.law != exponential_law) return result;
    const UOp kept = centre_of(law_, leader_.whole, {});
    const UOp wanted =
        substitute(following_.centre, std::vector{std::pair{terms_.leader(), leader_.whole}});
    return kept == wanted ? result : result * graph_.alu(Op::Exp, {kept - wanted});
  }

  Graph& graph_;
  const UOp reduce_;
  const CutReduction& leader_;
  const NumberTerms& terms_;
  const Following& following_;
  const Transport& law_;
};

// Whether the centre is computed from the leader alone.
bool is_of_leader_alone(UOp centre, const NumberTerms& terms) {
  return std::ranges::none_of(terms.tensors(),
                              [&](const auto& t) { return is_used_by(centre, t.first); });
}

}  // namespace

std::optional<LedParts> led_in_parts(UOp reduce, const CutReduction& leader) {
  const UOp x = reduce.src(0), y = leader.reduce.src(0);
  if (x.has_open_shape() || !std::ranges::equal(x.shape(), y.shape())) return {};
  if (!std::ranges::equal(reduce.arg().as_ints().subspan(1),
                          leader.reduce.arg().as_ints().subspan(1))) {
    return {};
  }
  NumberTerms terms(leader.whole, reduce);
  const UOp value = terms.of(x);
  if (!terms.leader()) return {};
  const auto count = static_cast<double>(x.elements() / reduce.elements());
  const auto following =
      find_law({.op = reduce.reduce_op(),
                .value = value,
                .leader = terms.leader(),
                .leader_op = leader.reduce.reduce_op(),
                .terms = terms.of(y),
                .is_count = [&](UOp u) { return u.is_const() && u.const_double() == count; }});
  if (!following || !is_of_leader_alone(following->centre, terms)) return {};
  // Where the last part is shorter, its mean is not the sum by the number of terms of the others.
  const std::int64_t size = x.shape()[static_cast<std::size_t>(leader.cut.axis)];
  if (following->law == square_law && leader.cut.missing(size) > 0) return {};
  return Moving(reduce, leader, terms, *following).run(value);
}

}  // namespace croze
