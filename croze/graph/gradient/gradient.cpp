// gradient.cpp -- the walk: from the loss back to the targets, users before sources.
#include "croze/graph/gradient/gradient.h"

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/gradient/gradient_rules.h"
#include "croze/graph/graph.h"
#include "croze/graph/observer.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// The part of the graph that lies between the targets and the roots.
class Backward {
 public:
  Backward(std::span<const UOp> roots, std::span<const UOp> targets) : order_(toposort(roots)) {
    place_.reserve(static_cast<std::int64_t>(order_.size()));
    depends_.resize(order_.size());
    gradients_.resize(order_.size());
    for (UOp t : targets) targets_.insert(t.node());
    for (std::size_t i = 0; i < order_.size(); i++) {
      const UOp u = order_[i];
      place_.insert(u.node(), i);
      bool depends = targets_.contains(u.node());
      if (!depends && has_partials(u)) {
        for (UOp s : u.sources()) depends = depends || depends_[*place_.find(s.node())];
      }
      depends_[i] = depends;
    }
  }

  void run(std::span<const UOp> roots, std::span<const UOp> weights) {
    for (std::size_t i = 0; i < roots.size(); i++) {
      if (depends_[*place_.find(roots[i].node())]) add(roots[i], weights[i]);
    }
    for (std::size_t i = order_.size(); i-- > 0;) {
      if (gradients_[i] && depends_[i]) send_to_sources(order_[i], gradients_[i]);
    }
  }

  UOp gradient_by(UOp target) const {
    const std::size_t* i = place_.find(target.node());
    return i && gradients_[*i] ? gradients_[*i] : filled_with(target, 0);
  }

 private:
  void send_to_sources(UOp u, UOp g) {
    if (!has_partials(u)) return;
    SmallVector<bool, 8> wanted;
    bool any = false;
    for (UOp s : u.sources()) {
      wanted.push_back(depends_[*place_.find(s.node())]);
      any = any || wanted.back();
    }
    if (!any) return;
    if (const FormPartial form = through_form(u, g, targets_); form.argument) {
      tell_observers([&](CompileObserver& o) { o.differentiated(u, form.partial); });
      add(form.argument, form.partial);
      return;
    }
    const Partials partials = partials_of(u, g, wanted, targets_);
    for (int k = 0; k < u.num_src(); k++) {
      if (!partials[k] || !wanted[k]) continue;
      tell_observers([&](CompileObserver& o) { o.differentiated(u, partials[k]); });
      add(u.src(k), partials[k]);
    }
  }

  void add(UOp source, UOp partial) {
    UOp& sum = gradients_[*place_.find(source.node())];
    // An effect has no shape of its own: what flows into a Store has that of the stored value.
    if (!source.is(Op::Store)) partial = fit_gradient(partial, source);
    sum = sum ? sum + partial : partial;
  }

  std::vector<UOp> order_;
  NodeSet targets_;
  FlatMap<const Node*, std::size_t> place_;
  std::vector<bool> depends_;   // on a target
  std::vector<UOp> gradients_;  // of the roots, by node in order_; null: none yet
};

}  // namespace

std::vector<UOp> gradient(UOp loss, std::span<const UOp> targets) {
  ensure(loss.elements() == 1 && is_float(loss.dtype()), "the loss is no float number");
  const UOp one = filled_with(loss, 1);
  return gradient(std::span(&loss, 1), std::span(&one, 1), targets);
}

std::vector<UOp> gradient(std::span<const UOp> roots, std::span<const UOp> weights,
                          std::span<const UOp> targets) {
  Backward backward(roots, targets);
  backward.run(roots, weights);
  std::vector<UOp> result;
  for (UOp t : targets) result.push_back(backward.gradient_by(t));
  return result;
}

}  // namespace croze
