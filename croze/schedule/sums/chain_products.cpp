// chain_products.cpp -- products whose factor is made of another product become one nest.
//
// The scores of attention are a product, and what its softmax makes of them is a factor of the
// next:
//
//     for i, j:  s[i, j] = sum(q[i, d] * k[j, d])
//     for i:     m[i] = max(s[i, ..]), r[i] = 1 / sum(exp(s[i, ..] - m[i]))
//     for i, e:  o[i, e] = sum(exp(s[i, j] - m[i]) * r[i] * v[j, e])
//
// Written as one nest, in which each value stands for what it is made of, the scores are made three
// times for each element of the result; but the code generator goes over them once, block by block,
// and warps hold what their units have made (choose/warps/held_tiles.h).  So whether it can is
// asked first.  A factor that all terms of a sum have in common, such as r[i], is applied to the
// sum.
#include "croze/schedule/sums/chain_products.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/choose/unroll_branches.h"
#include "croze/codegen/choose/warps/held_tiles.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/block_cut.h"
#include "croze/schedule/nest_facts.h"
#include "croze/schedule/step_graph.h"

namespace croze {
namespace {

// Steps between two products.
constexpr std::size_t most_between = 8;

// ---- one nest of several ----------------------------------------------------------------------

// A nest in which what other steps store stands for what is loaded of it.
class Inliner {
 public:
  explicit Inliner(UOp nest) : nest_(nest) {
    for (UOp u : toposort(nest)) {
      if (u.is(Op::Range)) next_range_ = std::max(next_range_, u.range_id() + 1);
    }
  }

  void add_store(UOp store) { stores_[store.src(0).src(0).node()] = store; }

  // Null if the place of something is not known.
  UOp run() {
    for (;;) {
      std::vector<std::pair<UOp, UOp>> values;
      for (UOp load : loads(nest_)) {
        const auto store = stores_.find(load.src(0).src(0).node());
        if (store == stores_.end()) continue;
        const UOp value = value_at(store->second, load.src(0));
        if (!value || next_range_ > most_nest_ranges) return UOp();
        values.emplace_back(load, value);
      }
      if (values.empty()) return nest_;
      nest_ = substitute(nest_, values);
    }
  }

 private:
  UOp value_at(UOp store, UOp place) {
    const Layout layout = layout_of(store);
    if (layout.empty() || place.num_src() > 2) return UOp();
    std::vector<std::pair<UOp, UOp>> at;
    for (const LayoutAxis& axis : layout)
      at.emplace_back(axis.loop, position_along(place.src(1), axis));
    for (const auto& loop : own_loops(store, at)) at.push_back(loop);
    return substitute(store.src(1), at);
  }

  // What reductions close gets ranges of its own at each position, the same for all that a step
  // stores there.
  std::vector<std::pair<UOp, UOp>> own_loops(UOp store,
                                             const std::vector<std::pair<UOp, UOp>>& at) {
    Graph& g = store.graph();
    std::vector<std::pair<UOp, UOp>> renamed;
    for (UOp u : toposort(store.src(1))) {
      const auto is_at = [&](const std::pair<UOp, UOp>& p) { return p.first == u; };
      if (!u.is(Op::Range) || std::ranges::any_of(at, is_at)) continue;
      std::vector<const Node*> instance{u.node()};
      for (const auto& [loop, position] : at) instance.push_back(position.node());
      UOp& own = own_loops_[instance];
      if (!own) own = g.range(next_range_++, Extent(u.trip_count()), u.loop_kind());
      renamed.emplace_back(u, own);
    }
    return renamed;
  }

  UOp nest_;
  std::int64_t next_range_ = 0;
  std::map<const Node*, UOp> stores_;  // by buffer
  std::map<std::vector<const Node*>, UOp> own_loops_;
};

// ---- factors that all terms have in common ----------------------------------------------------

struct Product {
  UOp terms, common;  // null: none
};

UOp times(UOp a, UOp b) { return a && b ? a * b : a ? a : b; }

Product split(UOp term, std::span<const UOp> loops) {
  const auto varies = [&](UOp u) {
    return std::ranges::any_of(loops, [&](UOp r) { return u.varies_over(r); });
  };
  const bool needs_reduction =
      std::ranges::any_of(toposort(term), [](UOp u) { return u.is(Op::Reduce); });
  if (!varies(term) && needs_reduction) return {UOp(), term};
  if (term.is(Op::Mul)) {
    const Product a = split(term.src(0), loops), b = split(term.src(1), loops);
    const bool is_of_one = !a.common || !b.common || a.common.dtype() == b.common.dtype();
    if (is_of_one && (a.common || b.common))
      return {times(a.terms, b.terms), times(a.common, b.common)};
  }
  if (term.is(Op::Cast) && is_float(term.dtype()) && is_float(term.src(0).dtype())) {
    const Product inside = split(term.src(0), loops);
    if (inside.common && inside.terms) return {cast(inside.terms, term.dtype()), inside.common};
  }
  if (term.is(Op::Where) && term.src(2).is_const(0)) {
    const Product inside = split(term.src(1), loops);
    if (inside.common && inside.terms)
      return {where(term.src(0), inside.terms, term.src(2)), inside.common};
  }
  return {term, UOp()};
}

UOp with_factors_outside(UOp nest) {
  std::vector<std::pair<UOp, UOp>> split_up;
  for (UOp u : reduces(nest)) {
    if (u.reduce_op() != Op::Add) continue;
    const std::vector<UOp> loops = closed_ranges(u);
    const Product p = split(u.src(0), loops);
    if (!p.common || !p.terms || p.common.dtype() != u.dtype()) continue;
    split_up.emplace_back(u, u.graph().reduce(Op::Add, p.terms, loops) * p.common);
  }
  return substitute(nest, split_up);
}

// ---- steps ------------------------------------------------------------------------------------

class Chainer {
 public:
  Chainer(std::vector<PendingStep>& steps, std::span<const UOp> results,
          const ScheduleContext& context)
      : steps_(steps), context_(context), states_(steps, results) {}

  void run() {
    for (std::size_t i = 0; i < steps_.size(); i++) {
      if (!is_joinable(i) || !facts_of(steps_[i].nests[0]).contraction) continue;
      for (std::size_t first : products_before(i)) {
        if (try_chain(first, i)) break;
      }
    }
    std::erase_if(steps_, [](const PendingStep& s) { return s.writes.empty(); });
  }

 private:
  const Caps& caps(std::size_t step) const { return context_.caps(steps_[step].device); }

  bool is_joinable(std::size_t i) const {
    const PendingStep& step = steps_[i];
    return step.nests.size() == 1 && !step.supersedes && step.part == 0 && !is_snapshot(step) &&
           caps(i).runs_warps() && !caps(i).matrix_units.empty();
  }

  // The step that makes a state; none if several do, or it cannot be joined to others.
  std::optional<std::size_t> maker(UOp state) const {
    const auto makers = states_.makers(state);
    if (makers.size() != 1 || !is_joinable(makers[0])) return {};
    return makers[0];
  }

  // The nearest products that the step waits for.
  std::vector<std::size_t> products_before(std::size_t step) const {
    std::vector<std::size_t> products, between{step};
    for (std::size_t n = 0; n < between.size() && n < most_between; n++) {
      for (UOp state : steps_[between[n]].reads) {
        const auto m = maker(state);
        if (!m || steps_[*m].device != steps_[step].device) continue;
        auto& list = facts_of(steps_[*m].nests[0]).contraction ? products : between;
        if (std::ranges::find(list, *m) == list.end()) list.push_back(*m);
      }
    }
    return products;
  }

  // The steps from one to before another, those that others read from last; none if somebody else
  // wants what they make, or they are many.
  std::vector<std::size_t> steps_between(std::size_t first, std::size_t last) const {
    std::vector<std::size_t> found{first};
    for (std::size_t n = 0; n < found.size(); n++) {
      const std::size_t step = found[n];
      if (found.size() > most_between || !is_joinable(step)) return {};
      if (steps_[step].device != steps_[last].device) return {};
      for (UOp state : steps_[step].writes) {
        if (states_.is_result(state) || states_.makers(state).size() != 1) return {};
        for (std::size_t reader : states_.readers(state)) {
          const bool is_new = std::ranges::find(found, reader) == found.end();
          if (reader != last && is_new) found.push_back(reader);
        }
      }
    }
    return found;
  }

  bool try_chain(std::size_t first, std::size_t last) {
    const std::vector<std::size_t> chain = steps_between(first, last);
    if (chain.empty()) return false;
    Inliner inliner(steps_[last].nests[0]);
    for (std::size_t i : chain) {
      for (UOp store : steps_[i].nests[0].sources()) inliner.add_store(store);
    }
    const UOp inlined = inliner.run();
    if (!inlined) return false;
    const UOp nest = with_factors_outside(inlined);
    const auto cycles = cycles_of(nest, last);
    if (!cycles || *cycles > cycles_apart(chain, last)) return false;
    steps_[last].nests = {nest};
    for (std::size_t i : chain) states_.join(i, last, [](UOp) { return true; });
    return true;
  }

  // Of the nest as one kernel, if that is how its edits will be chosen (choose_edits).
  std::optional<double> cycles_of(UOp nest, std::size_t step) const {
    std::vector<PendingStep> one(1);
    one[0].device = steps_[step].device;
    one[0].nests = {nest};
    detach_kernels(one);
    Graph graph;
    KernelState k(editable_kernel(one[0].steps[0].kernel->sink, graph), caps(step));
    normalize_loops(k);
    unroll_branches(k);
    return cycles_of_held_products(k);
  }

  // Of the steps one after the other: products by units, and what they pass to each other.
  double cycles_apart(const std::vector<std::size_t>& chain, std::size_t last) const {
    const WarpModel model(caps(last));
    double cycles = 0;
    for (std::size_t i : chain) cycles += cycles_of_step(model, i);
    return cycles + cycles_of_step(model, last);
  }

  double cycles_of_step(const WarpModel& model, std::size_t i) const {
    double bytes = 0;
    std::set<const Node*> buffers;
    for (UOp u : toposort(steps_[i].nests[0])) {
      if (u.is(Op::Buffer) && buffers.insert(u.node()).second)
        bytes += static_cast<double>(u.elements() * size_of(u.dtype()));
    }
    const NestFacts facts = facts_of(steps_[i].nests[0]);
    const double rate = facts.contraction ? model.unit_multiply_adds(*caps(i).matrix_units[0])
                                          : WarpModel::multiply_adds;
    const double computing = static_cast<double>(facts.work) / rate;
    const auto units = static_cast<double>(model.units);
    return WarpModel::launch + std::max(bytes / WarpModel::memory_bytes, computing) / units;
  }

  std::vector<PendingStep>& steps_;
  const ScheduleContext& context_;
  StepGraph states_;
};

}  // namespace

void chain_products(std::vector<PendingStep>& steps, std::span<const UOp> results,
                    const ScheduleContext& context) {
  Chainer(steps, results, context).run();
}

}  // namespace croze
