// exchange.cpp -- sums over what a product makes, taken of what another product has made.
//
// The gradient of attention wants, for each row, what its weights come to, times their gradients:
//
//     for i, e:  o[i, e] = sum(f[i] * p[i, j] * v[j, e])
//     for i, j:  g[i, j] = sum(u[i, e] * v[j, e])
//     for i:     c[i] = sum(p[i, j] * g[i, j])
//
// The terms of the last, over j and e, are those of the first times u[i, e].  Added up over j first
// they are
//
//     for i:     c[i] = sum(u[i, e] * o[i, e]) / f[i]
//
// which is less to add up.  And it wants no row of p and of g: who reads it can be cut into blocks
// along j, once o is there.
#include "croze/schedule/sums/exchange.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/analysis/factors.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/block_cut.h"
#include "croze/schedule/memory/memory_states.h"
#include "croze/schedule/step_graph.h"

namespace croze {
namespace {

// A product of loads and constants, perhaps behind a mask.
struct Term {
  UOp mask;  // null: none
  std::vector<UOp> factors;
};

std::optional<Term> term_of(UOp value) {
  Term term;
  if (value.is(Op::Where) && value.src(2).is_const(0)) {
    term.mask = value.src(0);
    value = value.src(1);
  }
  const SmallVector<UOp, 8> factors = factors_of(value);
  term.factors.assign(factors.begin(), factors.end());
  const auto is_factor = [](UOp u) { return u.is(Op::Load) || u.is_const(); };
  if (!std::ranges::all_of(term.factors, is_factor)) return {};
  return term;
}

UOp product_of(std::span<const UOp> factors) {
  UOp product = factors[0];
  for (UOp f : factors.subspan(1)) product = product * f;
  return product;
}

bool is_sum_over_one(UOp u) {
  return u.is(Op::Reduce) && u.reduce_op() == Op::Add && u.num_src() == u.first_closed() + 1;
}

// A step that stores sums of products, over one loop.
struct Product {
  UOp store, loop, scale;  // null: none
  Layout layout;
  Term term;
};

std::optional<Product> stored_product(const PendingStep& step) {
  if (step.nests.size() != 1 || step.nests[0].num_src() != 1) return {};
  Product p;
  p.store = step.nests[0].src(0);
  UOp sum = p.store.src(1);
  if (sum.is(Op::Mul) && sum.src(1).is_const()) {
    p.scale = sum.src(1);
    sum = sum.src(0);
  }
  p.layout = layout_of(p.store);
  if (p.layout.empty() || !is_sum_over_one(sum) || sum.dtype() != step.outputs[0].dtype())
    return {};
  const auto term = term_of(sum.src(0));
  if (!term) return {};
  p.term = *term;
  p.loop = sum.src(sum.first_closed());
  return p;
}

class Exchanger {
 public:
  Exchanger(std::vector<PendingStep>& steps, std::span<const UOp> results,
            const ScheduleContext& context)
      : steps_(steps), results_(results), context_(context) {
    for (std::size_t i = 0; i < steps_.size(); i++) {
      for (std::size_t o = 0; o < steps_[i].outputs.size(); o++) {
        maker_of_.emplace(steps_[i].outputs[o].node(), i);
        memory_of_.emplace(steps_[i].writes[o].node(), steps_[i].outputs[o]);
      }
      if (auto product = stored_product(steps_[i])) products_.emplace(i, std::move(*product));
    }
  }

  void run() {
    for (std::size_t i = 0; i < steps_.size(); i++) {
      const Caps& caps = context_.caps(steps_[i].device);
      const bool runs_sequences = caps.joins_nests && !caps.has_groups;
      if (steps_[i].nests.size() != 1 || is_snapshot(steps_[i]) || !runs_sequences) continue;
      for (UOp sum : reduces(steps_[i].nests[0])) exchange(i, sum);
    }
  }

 private:
  // A sum of a step: what it multiplies with the elements of a product, and the terms of that one,
  // which vary over the loop of the sum or do not.
  struct Wanted {
    std::size_t step;
    UOp sum, loop;           // along the elements of the product
    UOp inner;               // a new loop over the terms of the product
    std::vector<UOp> terms;  // that vary over the loop of the sum
    std::vector<UOp> outer;
    UOp mask;
  };

  void exchange(std::size_t step, UOp sum) {
    if (!is_sum_over_one(sum)) return;
    const auto term = term_of(sum.src(0));
    if (!term || term->mask) return;
    for (UOp load : term->factors) {
      const std::size_t made_by = load.is(Op::Load) ? maker(load) : steps_.size();
      const auto product = products_.find(made_by);
      if (product == products_.end()) continue;
      std::vector<UOp> others = term->factors;
      std::erase(others, load);
      if (others.size() + 1 != term->factors.size()) continue;
      const auto wanted = terms_of(step, sum, load, std::move(others), product->second);
      if (wanted && take_from_another(*wanted, load)) return;
    }
  }

  // Whether what the product makes is wanted beside the sum: else it would be made for nobody.
  bool is_wanted_beside(const StepGraph& states, const Wanted& w, UOp load) const {
    const UOp buffer = load.src(0).src(0);
    const std::pair<UOp, UOp> without{w.sum, constant_like(w.sum, 0)};
    const UOp rest = substitute(steps_[w.step].nests[0], std::span(&without, 1));
    const auto is_of_product = [&](UOp l) { return l.src(0).src(0) == buffer; };
    return std::ranges::any_of(loads(rest), is_of_product) ||
           states.is_wanted_beside(steps_[maker(load)].writes[0], w.step);
  }

  std::size_t maker(UOp load) const {
    const auto found = maker_of_.find(load.src(0).src(0).node());
    return found == maker_of_.end() ? steps_.size() : found->second;
  }

  // The terms of the sum over `others` times elements of a product.
  std::optional<Wanted> terms_of(std::size_t step, UOp sum, UOp load, std::vector<UOp> others,
                                 const Product& product) const {
    Wanted w{.step = step, .sum = sum, .loop = sum.src(sum.first_closed())};
    if (load.src(0).num_src() > 2 || w.loop.is_open() || product.loop.is_open()) return {};
    if (product.loop.range_size() > w.loop.range_size()) return {};
    std::vector<std::pair<UOp, UOp>> at;
    for (const LayoutAxis& axis : product.layout) {
      const UOp position = position_along(load.src(0).src(1), axis);
      if (position.varies_over(w.loop) && position != w.loop) return {};
      at.emplace_back(axis.loop, position);
    }
    w.inner = new_loop(steps_[step].nests[0], product.loop.range_size());
    at.emplace_back(product.loop, w.inner);
    w.terms = std::move(others);
    for (UOp f : product.term.factors) {
      const UOp here = substitute(f, at);
      (here.varies_over(w.loop) ? w.terms : w.outer).push_back(here);
    }
    if (product.scale) w.outer.push_back(product.scale);
    if (product.term.mask) w.mask = substitute(product.term.mask, at);
    if (w.outer.empty() || (w.mask && w.mask.varies_over(w.inner))) return {};
    return w;
  }

  static UOp new_loop(UOp nest, std::int64_t size) {
    std::int64_t id = 0;
    for (UOp u : toposort(nest)) {
      if (u.is(Op::Range)) id = std::max(id, u.range_id() + 1);
    }
    return nest.graph().range(id, size, LoopKind::Reduce);
  }

  bool take_from_another(const Wanted& w, UOp load) {
    for (const auto& [step, product] : products_) {
      if (step == w.step || product.scale || steps_[step].device != steps_[w.step].device) continue;
      if (product.store.src(0).src(0).dtype() != w.sum.dtype()) continue;
      const UOp value = taken_from(product, w);
      if (!value) continue;
      const StepGraph states(steps_, results_);
      if (!is_wanted_beside(states, w, load)) return false;
      if (!can_be_before(states, step, w.step)) continue;
      if (read_other_states({w.step, maker(load), step})) continue;
      replace(w, value, maker(load), step);
      return true;
    }
    return false;
  }

  // Whether a step can run before another that has not waited for it so far.
  bool can_be_before(const StepGraph& states, std::size_t step, std::size_t other) const {
    const UOp overwritten = steps_[step].supersedes;
    if (overwritten && !(states.makers(overwritten).empty() && states.readers(overwritten).empty()))
      return false;
    return states.makers(steps_[step].writes[0]).size() == 1 && !states.waits(step, other);
  }

  // The sum, if the other product has added up its terms; null if it has not.
  UOp taken_from(const Product& other, const Wanted& w) const {
    const auto map = loops_of(other, w);
    if (!map) return UOp();
    const UOp mask = other.term.mask ? substitute(other.term.mask, *map) : UOp();
    if (mask != w.mask) return UOp();
    std::vector<UOp> terms = w.terms, common;
    for (UOp f : other.term.factors) {
      const UOp here = substitute(f, *map);
      const auto same = std::ranges::find(terms, here);
      if (same != terms.end()) {
        terms.erase(same);
      } else if (here.varies_over(w.loop) || here.varies_over(w.inner) || !is_reciprocal(here)) {
        return UOp();
      } else {
        common.push_back(here);
      }
    }
    if (!terms.empty()) return UOp();
    Graph& g = w.sum.graph();
    const UOp term = product_of(w.outer) * g.load(substitute(other.store.src(0), *map));
    const UOp sum = g.reduce(Op::Add, term, std::span(&w.inner, 1));
    return common.empty() ? sum : sum * g.alu(Op::Reciprocal, {product_of(common)});
  }

  // It is 0 for nothing that is finite, so it can be divided by.
  bool is_reciprocal(UOp load) const {
    const std::size_t step = load.is(Op::Load) ? maker(load) : steps_.size();
    if (step == steps_.size() || steps_[step].nests.size() != 1) return false;
    const UOp nest = steps_[step].nests[0];
    return nest.num_src() == 1 && nest.src(0).src(1).is(Op::Reciprocal);
  }

  // What stands for the loops of the other product, where it loads one of the terms.
  std::optional<std::vector<std::pair<UOp, UOp>>> loops_of(const Product& other,
                                                           const Wanted& w) const {
    const UOp term = w.terms[0];
    if (!term.is(Op::Load) || maker(term) == steps_.size()) return {};
    const UOp buffer = term.src(0).src(0);
    Layout layout;
    for (UOp store : steps_[maker(term)].nests[0].sources()) {
      if (store.src(0).src(0) == buffer) layout = layout_of(store);
    }
    const auto load = std::ranges::find_if(
        other.term.factors, [&](UOp f) { return f.is(Op::Load) && f.src(0).src(0) == buffer; });
    if (layout.empty() || load == other.term.factors.end()) return {};
    std::vector<std::pair<UOp, UOp>> map;
    for (const LayoutAxis& axis : layout) {
      const UOp loop = position_along(load->src(0).src(1), axis);
      if (loop.is_const()) continue;
      if (!loop.is(Op::Range) || loop.range_size() != axis.loop.range_size()) return {};
      map.emplace_back(loop, position_along(term.src(0).src(1), axis));
    }
    const auto is_mapped = [&](UOp loop) {
      return std::ranges::any_of(map, [&](const auto& m) { return m.first == loop; });
    };
    std::vector<UOp> left;
    for (const LayoutAxis& axis : other.layout) {
      if (!is_mapped(axis.loop)) left.push_back(axis.loop);
    }
    if (left.size() != 1 || left[0].range_size() != w.inner.range_size()) return {};
    if (!is_mapped(other.loop)) return {};
    map.emplace_back(left[0], w.inner);
    return map;
  }

  // Whether steps read memory as it was at different times: then equal loads are of other values.
  bool read_other_states(std::initializer_list<std::size_t> steps) {
    std::vector<UOp> reads;
    for (std::size_t step : steps)
      reads.insert(reads.end(), steps_[step].reads.begin(), steps_[step].reads.end());
    return std::ranges::any_of(reads, [&](UOp a) {
      return std::ranges::any_of(reads,
                                 [&](UOp b) { return a != b && memory_states_.are_of_one(a, b); });
    });
  }

  // The sum has terms now that the makers of the two products have read.
  void replace(const Wanted& w, UOp value, std::size_t product, std::size_t other) {
    PendingStep& step = steps_[w.step];
    const std::pair<UOp, UOp> taken{w.sum, value};
    step.nests = {substitute(step.nests[0], std::span(&taken, 1))};
    std::vector<UOp> reads = step.reads;
    for (std::size_t maker : {product, other})
      reads.insert(reads.end(), steps_[maker].reads.begin(), steps_[maker].reads.end());
    reads.push_back(steps_[other].writes[0]);
    step.reads.clear();
    const std::vector<UOp> loaded = loads(step.nests[0]);
    for (UOp state : reads) {
      const auto known = memory_of_.find(state.node());
      const UOp memory = known == memory_of_.end() ? state : known->second;
      const bool is_loaded = !memory.is(Op::Buffer) || std::ranges::any_of(loaded, [&](UOp load) {
        return load.src(0).src(0) == memory;
      });
      const bool is_new = std::ranges::find(step.reads, state) == step.reads.end();
      if (is_loaded && is_new) step.reads.push_back(state);
    }
    products_.erase(w.step);  // the sum that it stored was another one
    if (auto now = stored_product(step)) products_.emplace(w.step, std::move(*now));
  }

  std::vector<PendingStep>& steps_;
  std::span<const UOp> results_;
  const ScheduleContext& context_;
  MemoryStates memory_states_;
  std::map<const Node*, std::size_t> maker_of_;  // by buffer
  std::map<const Node*, UOp> memory_of_;         // by state
  std::map<std::size_t, Product> products_;      // by step
};

}  // namespace

void exchange_sums(std::vector<PendingStep>& steps, std::span<const UOp> results,
                   const ScheduleContext& context) {
  Exchanger(steps, results, context).run();
}

}  // namespace croze
