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

// The loops of the reductions, which must be the same of all.
std::string loops_of(const std::vector<UOp>& reductions, UOp range, PassLoops* loops) {
  const std::vector<UOp> closed = closed_ranges(reductions[0]);
  for (UOp u : reductions) {
    if (closed_ranges(u) != closed || u.ranges() != reductions[0].ranges()) {
      return fmt::format("the reductions over loop r{} do not stand in the same place",
                         range.range_id());
    }
  }
  const auto at = std::ranges::find(closed, range);
  *loops = {range, {closed.begin(), at}, {at + 1, closed.end()}};
  for (UOp r : loops->around) {
    if (r.loop_kind() != LoopKind::Reduce) return "something has been decided about the loops";
  }
  return {};
}

// Whether the loops of both turn alike.
bool are_alike(const PassLoops& a, const PassLoops& b) {
  return turn_alike(a.loop, b.loop) && std::ranges::equal(a.around, b.around, turn_alike) &&
         std::ranges::equal(a.inside, b.inside, turn_alike);
}

// The loops of the first in terms of those of the second.
std::vector<std::pair<UOp, UOp>> renamed(const PassLoops& from, const PassLoops& to) {
  std::vector<std::pair<UOp, UOp>> pairs{{from.loop, to.loop}};
  for (std::size_t i = 0; i < from.around.size(); i++)
    pairs.emplace_back(from.around[i], to.around[i]);
  for (std::size_t i = 0; i < from.inside.size(); i++)
    pairs.emplace_back(from.inside[i], to.inside[i]);
  return pairs;
}

std::string follow(UOp reduce, const OnePassPlan& plan, Follower* follower) {
  const PassLoops &own = plan.loops[follower->loops], &first = plan.loops[0];
  for (UOp leader : plan.leaders) {
    if (!is_used_by(reduce, leader)) continue;
    const auto found =
        find_law({.op = reduce.reduce_op(),
                  .value = reduce.src(0),
                  .leader = leader,
                  .leader_op = leader.reduce_op(),
                  .terms = with_reductions_of(substitute(leader.src(0), renamed(first, own)),
                                              reduce.src(0), own.loop),
                  .is_count = [&](UOp u) { return counts_terms(u, leader); }});
    if (!found || follower->leader) return "no law says how terms move with what they depend on";
    follower->law = found->law;
    follower->leader = leader;
    follower->centre = found->centre;
    follower->without = found->without;
  }
  return {};
}

}  // namespace

std::string plan_one_pass(UOp sink, std::span<const UOp> loops, OnePassPlan* plan) {
  *plan = {};
  std::vector<std::vector<UOp>> reductions;
  for (UOp loop : loops) {
    reductions.push_back(reductions_over(sink, loop));
    if (reductions.back().empty()) return "no reduction has the loop";
    std::string why = loops_of(reductions.back(), loop, &plan->loops.emplace_back());
    if (!why.empty()) return why;
    if (!are_alike(plan->loops[0], plan->loops.back())) return "the loops have other sizes";
    if (!reductions.back()[0].ranges().contains_all(reductions[0][0].ranges()))
      return "the reductions do not stand in the same place";
  }
  plan->leaders = reductions[0];
  // A block has a number of terms that is known (TupleForm).
  if (std::ranges::any_of(plan->loops[0].inside, std::mem_fn(&UOp::is_open)))
    return "how often a loop inside turns is known at launch only";
  for (std::size_t i = 1; i < loops.size(); i++) {
    for (UOp reduce : reductions[i]) {
      Follower f{.reduce = reduce, .loops = i};
      if (std::string why = follow(reduce, *plan, &f); !why.empty()) return why;
      plan->followers.push_back(f);
    }
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
    outer_ = range_divided_by(k, plan.loops[0].loop, block);
    for (const PassLoops& loops : plan.loops) blocks_.push_back(cut(loops));
  }

  UOp run() {
    form_.terms = block_ * iterations(plan_.loops[0].inside);
    for (UOp u : plan_.leaders) {
      form_.parts.push_back({u.reduce_op()});
      values_.push_back(reduced(u, substitute(u.src(0), blocks_[0].cuts), 0));
    }
    for (const Follower& f : plan_.followers) add(f);
    std::vector<UOp> loops = plan_.loops[0].around;
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
  // The loops of a block, and those of the whole in terms of them.
  struct Block {
    std::vector<UOp> loops;
    std::vector<std::pair<UOp, UOp>> cuts;
  };

  // The loop as outer * block + inner; the loops around it are those of the leaders.
  Block cut(const PassLoops& loops) {
    Block block{loops.inside, {}};
    UOp inner = g_.index(0);
    if (block_ > 1) {
      inner = g_.range(k_.next_range++, block_, LoopKind::Reduce);
      block.loops.insert(block.loops.begin(), inner);
    }
    block.cuts.emplace_back(loops.loop, outer_ * block_ + inner);
    for (std::size_t i = 0; i < loops.around.size(); i++) {
      if (loops.around[i] != plan_.loops[0].around[i])
        block.cuts.emplace_back(loops.around[i], plan_.loops[0].around[i]);
    }
    return block;
  }

  UOp reduced(UOp u, UOp value, std::size_t loops) {
    return g_.reduce(u.reduce_op(), value, blocks_[loops].loops);
  }

  std::int64_t place_of(UOp leader) const {
    return std::ranges::find(plan_.leaders, leader) - plan_.leaders.begin();
  }

  void add(const Follower& f) {
    const std::int64_t leader = f.leader ? place_of(f.leader) : -1;
    form_.parts.push_back({f.reduce.reduce_op(), f.law, leader});
    std::vector<std::pair<UOp, UOp>> cuts = blocks_[f.loops].cuts;
    if (f.leader) {
      const UOp of_block = values_[static_cast<std::size_t>(leader)];
      const Transport& law = transports()[static_cast<std::size_t>(f.law)];
      cuts.emplace_back(f.centre, centre_of(law, of_block, g_.index(form_.terms)));
    }
    UOp value = f.reduce.src(0);
    if (f.law == equality_law) value = where(value.src(0), value.src(1), identity(f.reduce));
    values_.push_back(reduced(f.reduce, substitute(value, cuts), f.loops));
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
  std::vector<Block> blocks_;  // for each of the loops of the plan
  TupleForm form_;
  std::vector<UOp> values_;
};

}  // namespace

UOp one_pass(KernelState& k, std::span<const UOp> loops, std::int64_t block) {
  Edit edit{.kind = EditKind::OnePass, .size = block};
  for (UOp r : loops) edit.ranges.push_back(r.range_id());
  note(k, edit);
  OnePassPlan plan;
  plan_one_pass(k.sink, loops, &plan);
  return OnePass(k, plan, block).run();
}

}  // namespace croze
