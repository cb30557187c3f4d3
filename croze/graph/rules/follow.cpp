#include "croze/graph/rules/follow.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Each law looks for its term in the value.
class Matcher {
 public:
  explicit Matcher(const LedReduction& r) : r_(r), terms_(rebuilt(r.terms)) {}

  std::optional<Following> find() const {
    for (auto law : {&Matcher::exponential, &Matcher::equality, &Matcher::square}) {
      if (auto found = (this->*law)(); found && leads_only_there(*found)) return found;
    }
    return {};
  }

 private:
  bool follows(UOp u) const { return is_used_by(u, r_.leader); }
  bool is_term(UOp u) const { return u.dtype() == terms_.dtype() && rebuilt(u) == terms_; }

  // But for the centre the value knows nothing of the leader.
  bool leads_only_there(const Following& f) const {
    const UOp zero = constant_like(f.centre, 0);
    return !follows(substitute(r_.value, std::vector{std::pair{f.centre, zero}}));
  }

  // x - centre, where x is the leader's term, or what a mask leaves of it.
  UOp centre_of_difference(UOp u, const std::vector<UOp>& masks = {}) const {
    if (!u.is(Op::Add)) return {};
    for (int i = 0; i < 2; i++) {
      const UOp x = u.src(1 - i);
      if (u.src(i).is(Op::Neg) && (is_term(x) || is_term_behind(masks, x))) return u.src(i).src(0);
    }
    return {};
  }

  // Where a mask is not open the leader has no term.
  bool is_term_behind(const std::vector<UOp>& masks, UOp x) const {
    if (!terms_.is(Op::Where) || rebuilt(x) != terms_.src(1)) return false;
    const std::int64_t none = identity_of(r_.leader_op, x.dtype());
    return terms_.src(2) == x.graph().constant_bits(x.dtype(), none) &&
           std::ranges::any_of(masks, [&](UOp m) { return rebuilt(m) == terms_.src(0); });
  }

  // exp(x - centre), perhaps times what does not depend on it.  Masks may leave out terms of both.
  std::optional<Following> exponential() const {
    if (r_.op != Op::Add || r_.leader_op != Op::Max) return {};
    UOp u = r_.value;
    std::vector<UOp> masks;
    while (!u.is(Op::Exp)) {
      const UOp factor = following_factor(u);
      if (!factor) return {};
      if (u.is(Op::Where) && u.src(2).is_const(0)) masks.push_back(u.src(0));
      u = factor;
    }
    const UOp centre = centre_of_difference(u.src(0), masks);
    if (!centre || u.dtype() != r_.leader.dtype()) return {};
    return Following{exponential_law, centre, {}};
  }

  // The operand by which `u` follows the leader, if it is proportional to it.
  UOp following_factor(UOp u) const {
    switch (u.op()) {
      case Op::Neg: return u.src(0);
      case Op::Cast:  // what is rounded stands for what it was
        return is_float(u.dtype()) && is_float(u.src(0).dtype()) ? u.src(0) : UOp();
      case Op::Mul:
        if (follows(u.src(0)) == follows(u.src(1))) return {};
        return u.src(follows(u.src(0)) ? 0 : 1);
      case Op::Where:
        if (follows(u.src(0))) return {};
        if (u.src(2).is_const(0)) return u.src(1);
        return u.src(1).is_const(0) ? u.src(2) : UOp();
      default: return {};
    }
  }

  // where(x == extreme, a, b), of which no b wins over an a.
  std::optional<Following> equality() const {
    const UOp v = r_.value;
    if (r_.leader_op != Op::Max && r_.leader_op != Op::Min) return {};
    if (!v.is(Op::Where) || !v.src(2).is_const()) return {};
    const UOp with = v.src(1), without = v.src(2);
    const bool loses = r_.op == Op::Add          ? without.is_const(0)
                       : !is_integral(v.dtype()) ? false
                       : r_.op == Op::Min        ? with.hi() <= without.lo()
                                                 : r_.op == Op::Max && with.lo() >= without.hi();
    if (!loses || !is_equality(v.src(0))) return {};
    return Following{equality_law, r_.leader, without};
  }

  // x == extreme, or that and whether x is NaN.
  bool is_equality(UOp u) const {
    if (u.is(Op::Eq)) {
      return (u.src(0) == r_.leader && is_term(u.src(1))) ||
             (u.src(1) == r_.leader && is_term(u.src(0)));
    }
    if (!u.is(Op::Or)) return false;
    const auto is_nan = [&](UOp c) {
      return c.is(Op::Ne) && c.src(0) == c.src(1) && is_term(c.src(0));
    };
    return (is_nan(u.src(0)) && is_equality(u.src(1))) ||
           (is_nan(u.src(1)) && is_equality(u.src(0)));
  }

  // (x - mean)^2.
  std::optional<Following> square() const {
    const UOp v = r_.value;
    if (r_.op != Op::Add || r_.leader_op != Op::Add) return {};
    if (!is_float(v.dtype()) || !v.is(Op::Mul) || v.src(0) != v.src(1)) return {};
    const UOp centre = centre_of_difference(v.src(0));
    if (!centre || !centre.is(Op::Div) || centre.src(0) != r_.leader) return {};
    if (!r_.is_count(centre.src(1))) return {};
    return Following{square_law, centre, {}};
  }

  const LedReduction& r_;
  const UOp terms_;
};

}  // namespace

std::optional<Following> find_law(const LedReduction& reduction) {
  return Matcher(reduction).find();
}

bool is_used_by(UOp u, UOp part) {
  const std::vector<UOp> order = toposort(u);
  return std::ranges::find(order, part) != order.end();
}

UOp with_reductions_of(UOp u, UOp like, UOp range) {
  const auto loops_in = [&](UOp root) {
    std::vector<UOp> loops;
    for (UOp r : toposort(root)) {
      if (!r.is(Op::Reduce) || !r.varies_over(range)) continue;
      for (int i = r.first_closed(); i < r.num_src(); i++) {
        if (std::ranges::find(loops, r.src(i)) == loops.end()) loops.push_back(r.src(i));
      }
    }
    return loops;
  };
  const std::vector<UOp> from = loops_in(u), to = loops_in(like);
  if (from.empty() || from.size() != to.size()) return u;
  std::vector<std::pair<UOp, UOp>> renamed;
  for (std::size_t i = 0; i < from.size(); i++) {
    if (from[i].trip_count() != to[i].trip_count()) return u;
    renamed.emplace_back(from[i], to[i]);
  }
  return substitute(u, renamed);
}

UOp rebuilt(UOp root) {
  std::unordered_map<const Node*, UOp> copies;
  std::vector<UOp> src;
  for (UOp u : toposort(root)) {
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies.at(s.node()));
    copies[u.node()] = u.num_src() == 0 ? u : u.graph().with_sources(u, src);
  }
  return copies.at(root.node());
}

}  // namespace croze
