// one_pass.cpp -- reductions that need what others come to go over their terms along with them.
//
//     m = reduce max x[j], j
//     s = reduce add exp(x[i] - m), i
// with i and j as J * size + k becomes
//     block m = reduce max x[J, k], k
//     block s = reduce add exp(x[J, k] - centre(block m)), k
//     (m, s) = tuple_reduce (block m, block s), J
// so a term that is read from memory by the first reduction is still in the cache when the second
// one wants it, and the laws are applied once for each block.
#include "croze/codegen/edits/one_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "croze/codegen/edits/note.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/follow.h"

namespace croze {
namespace {

// ---- finding ----------------------------------------------------------------------------------

// Whether `u` is how many terms the leader has.
bool counts_terms(UOp u, UOp leader) {
  const std::vector<UOp> closed = closed_ranges(leader);
  if (u.is_const()) {
    return std::ranges::none_of(closed, &UOp::is_open) &&
           u.const_double() == static_cast<double>(iterations(closed));
  }
  UOp count = u.graph().index(1);
  for (UOp r : closed) count = count * r.trip_count();
  return rebuilt(u) == cast(count, u.dtype());
}

// The reductions that close `range`.
std::vector<UOp> reductions_over(UOp sink, UOp range) {
  std::vector<UOp> result;
  for (UOp u : reduces(sink)) {
    if (closes(u, range)) result.push_back(u);
  }
  return result;
}

// The loops before `range` among those that the reductions close, which must be the same of all.
std::string loops_around(const std::vector<UOp>& reductions, UOp range, std::vector<UOp>* around) {
  const std::vector<UOp> closed = closed_ranges(reductions[0]);
  for (UOp u : reductions) {
    if (closed_ranges(u) != closed || u.ranges() != reductions[0].ranges()) {
      return fmt::format("the reductions over loop r{} do not stand in the same place",
                         range.range_id());
    }
  }
  around->assign(closed.begin(), std::ranges::find(closed, range));
  for (UOp r : *around) {
    if (r.loop_kind() != LoopKind::Reduce) return "something has been decided about the loops";
  }
  return {};
}

}  // namespace

std::string plan_one_pass(UOp sink, UOp first, UOp second, OnePassPlan* plan) {
  *plan = {.first = first, .second = second, .around = {}, .leaders = {}, .followers = {}};
  plan->leaders = reductions_over(sink, first);
  const std::vector<UOp> others = reductions_over(sink, second);
  if (plan->leaders.empty() || others.empty()) return "no reduction has the loop";
  for (std::string why : {loops_around(plan->leaders, first, &plan->around[0]),
                          loops_around(others, second, &plan->around[1])}) {
    if (!why.empty()) return why;
  }
  const std::vector<UOp> from = closed_ranges(others[0]), to = closed_ranges(plan->leaders[0]);
  if (!std::ranges::equal(from, to, turn_alike) ||
      plan->around[0].size() != plan->around[1].size()) {
    return "the loops have other sizes";
  }
  // A block has a number of terms that is known (TupleForm).
  if (std::any_of(std::ranges::find(to, first) + 1, to.end(), std::mem_fn(&UOp::is_open))) {
    return "how often a loop inside turns is known at launch only";
  }
  if (others[0].ranges() != plan->leaders[0].ranges()) {
    return "the reductions do not stand in the same place";
  }
  std::vector<std::pair<UOp, UOp>> renamed;
  for (std::size_t i = 0; i < to.size(); i++) renamed.emplace_back(to[i], from[i]);
  for (UOp reduce : others) {
    Follower f{.reduce = reduce};
    for (UOp leader : plan->leaders) {
      if (!is_used_by(reduce, leader)) continue;
      const auto found = find_law({.op = reduce.reduce_op(),
                                   .value = reduce.src(0),
                                   .leader = leader,
                                   .leader_op = leader.reduce_op(),
                                   .terms = substitute(leader.src(0), renamed),
                                   .is_count = [&](UOp u) { return counts_terms(u, leader); }});
      if (!found || f.leader) return "no law says how terms move with what they depend on";
      f = {reduce, found->law, leader, found->centre, found->without};
    }
    plan->followers.push_back(f);
  }
  const auto follows = [](const Follower& f) { return f.law >= 0; };
  return std::ranges::any_of(plan->followers, follows) ? "" : "none of them needs the others";
}

// ---- making -----------------------------------------------------------------------------------

namespace {

class OnePass {
 public:
  OnePass(KernelState& k, const OnePassPlan& plan, std::int64_t block)
      : k_(k), plan_(plan), g_(k.graph()), block_(block) {
    outer_ = range_divided_by(k, plan.first, block);
    cut(plan.first, plan.around[0], 0);
    cut(plan.second, plan.around[1], 1);
  }

  UOp run() {
    form_.terms = block_;
    for (UOp r : rest_[0]) form_.terms *= r == inner_[0] ? 1 : r.range_size();
    for (UOp u : plan_.leaders) {
      form_.parts.push_back({u.reduce_op()});
      values_.push_back(reduced(u, substitute(u.src(0), cuts_[0]), 0));
    }
    for (const Follower& f : plan_.followers) add(f);
    std::vector<UOp> loops = plan_.around[0];
    loops.push_back(outer_);
    const UOp tuple = tuple_reduce(form_, values_, loops);
    std::vector<std::pair<UOp, UOp>> results;
    for (std::size_t i = 0; i < plan_.leaders.size(); i++) {
      results.emplace_back(plan_.leaders[i], part_of(tuple, static_cast<std::int64_t>(i)));
    }
    for (std::size_t i = 0; i < plan_.followers.size(); i++) {
      const auto place = static_cast<std::int64_t>(plan_.leaders.size() + i);
      results.emplace_back(plan_.followers[i].reduce,
                           finished(plan_.followers[i], part_of(tuple, place), tuple));
    }
    k_.sink = substitute(k_.sink, results);
    return outer_;
  }

 private:
  // The loop as outer * block + inner; the loops around it are those of the leaders.
  void cut(UOp range, const std::vector<UOp>& around, int side) {
    UOp inner = g_.index(0);
    std::vector<UOp> of_all =
        closed_ranges(side == 0 ? plan_.leaders[0] : plan_.followers[0].reduce);
    if (block_ > 1) {
      inner = g_.range(k_.next_range++, block_, LoopKind::Reduce);
      rest_[side].push_back(inner);
      inner_[side] = inner;
    }
    for (std::size_t i = around.size() + 1; i < of_all.size(); i++) {
      rest_[side].push_back(of_all[i]);
    }
    cuts_[side].emplace_back(range, outer_ * block_ + inner);
    for (std::size_t i = 0; i < around.size() && side == 1; i++) {
      cuts_[side].emplace_back(around[i], plan_.around[0][i]);
    }
  }

  UOp reduced(UOp u, UOp value, int side) { return g_.reduce(u.reduce_op(), value, rest_[side]); }

  std::int64_t place_of(UOp leader) const {
    return std::ranges::find(plan_.leaders, leader) - plan_.leaders.begin();
  }

  void add(const Follower& f) {
    const std::int64_t leader = f.leader ? place_of(f.leader) : -1;
    form_.parts.push_back({f.reduce.reduce_op(), f.law, leader});
    std::vector<std::pair<UOp, UOp>> cuts = cuts_[1];
    if (f.leader) {
      const UOp of_block = values_[static_cast<std::size_t>(leader)];
      const Transport& law = transports()[static_cast<std::size_t>(f.law)];
      cuts.emplace_back(f.centre, centre_of(law, of_block, g_.index(form_.terms)));
    }
    UOp value = f.reduce.src(0);
    if (f.law == equality_law) value = where(value.src(0), value.src(1), identity(f.reduce));
    values_.push_back(reduced(f.reduce, substitute(value, cuts), 1));
  }

  UOp identity(UOp reduce) const {
    return g_.constant_bits(reduce.dtype(), identity_of(reduce.reduce_op(), reduce.dtype()));
  }

  // What the terms would have come to under the centre that they were written with.
  UOp finished(const Follower& f, UOp result, UOp tuple) const {
    if (f.law == equality_law) return g_.alu(f.reduce.reduce_op(), {result, f.without});
    if (f.law != exponential_law) return result;
    const UOp leader = part_of(tuple, place_of(f.leader));
    const UOp kept = centre_of(transports()[exponential_law], leader, {});
    const UOp wanted = substitute(f.centre, std::vector{std::pair{f.leader, leader}});
    return result * g_.alu(Op::Exp, {kept - wanted});
  }

  KernelState& k_;
  const OnePassPlan& plan_;
  Graph& g_;
  std::int64_t block_;
  UOp outer_;
  UOp inner_[2];
  std::vector<UOp> rest_[2];  // loops of a block
  std::vector<std::pair<UOp, UOp>> cuts_[2];
  TupleForm form_;
  std::vector<UOp> values_;
};

}  // namespace

UOp one_pass(KernelState& k, UOp first, UOp second, std::int64_t block) {
  note(k,
       {.kind = EditKind::OnePass, .ranges = {first.range_id(), second.range_id()}, .size = block});
  OnePassPlan plan;
  plan_one_pass(k.sink, first, second, &plan);
  return OnePass(k, plan, block).run();
}

}  // namespace croze
