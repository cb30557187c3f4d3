// valid.cpp -- simplification under a condition.
//
// A gate such as `3 <= r1*2 + r2 && r1*2 + r2 < 11` knows more of a sum than the bounds of its
// atoms do.  To use that, one atom of the sum is exchanged for `v - (rest of the sum)`, where v is
// a new variable with the gate's bounds: every occurrence of the sum becomes v, and the canonical
// constructors do the rest.  Exchanging v for the sum again gives an expression in the old atoms;
// it is kept if it is smaller.
#include "croze/graph/analysis/valid.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using i64 = std::int64_t;

constexpr std::size_t max_conjuncts = 16;

// lo <= sum <= hi.
struct Fact {
  LinearForm sum;  // without constant, the first coefficient positive
  i64 lo, hi;
};

// The And of the terms, the same node for the same set.  Terms that differ in the buffer they read
// have one key.
UOp conjunction(std::vector<UOp> terms, Graph& graph) {
  if (terms.empty()) return graph.boolean(true);
  std::sort(terms.begin(), terms.end(),
            [](UOp a, UOp b) { return a.key() != b.key() ? a.key() < b.key() : a.id() < b.id(); });
  UOp result = terms[0];
  for (UOp t : terms) {
    if (t.is_const(0)) return t;
    if (t != terms[0]) result = result & t;
  }
  return result;
}

// Narrows the fact about `sum` (with constant), or adds one.
void learn(std::vector<Fact>* facts, LinearForm sum, i64 lo, i64 hi) {
  if (sum.terms.empty()) return;
  lo = lo == INT64_MIN ? lo : lo - sum.constant;
  hi = hi == INT64_MAX ? hi : hi - sum.constant;
  sum.constant = 0;
  if (sum.terms[0].coefficient < 0) {
    for (Term& t : sum.terms) t.coefficient = -t.coefficient;
    const i64 below = hi == INT64_MAX ? INT64_MIN : -hi;
    hi = lo == INT64_MIN ? INT64_MAX : -lo;
    lo = below;
  }
  for (Fact& f : *facts) {
    if (!(f.sum == sum)) continue;
    f.lo = std::max(f.lo, lo);
    f.hi = std::min(f.hi, hi);
    return;
  }
  const Bounds b = sum.bounds();
  facts->push_back({std::move(sum), std::max(lo, b.lo), std::min(hi, b.hi)});
}

void learn_from(std::vector<Fact>* facts, UOp term) {
  const bool negated = term.is(Op::Not);
  const UOp u = negated ? term.src(0) : term;
  if (u.num_src() != 2 || u.src(0).dtype() != DType::Index) return;
  LinearForm difference = LinearForm::of(u.src(0));
  difference.add(LinearForm::of(u.src(1)), -1);
  if (u.is(Op::Lt)) {
    learn(facts, difference, negated ? 0 : INT64_MIN, negated ? INT64_MAX : -1);
  } else if (u.is(Op::Le)) {
    learn(facts, difference, negated ? 1 : INT64_MIN, negated ? INT64_MAX : 0);
  } else if (u.is(negated ? Op::Ne : Op::Eq)) {
    learn(facts, difference, 0, 0);
  }
}

// `x` with replacements that hold under the gate only.  What an expression loads is loaded whether
// the gate holds or not, so loads stay as they are, with their places and gates; and so do loops,
// with their trip counts.
UOp substitute_outside_loads(UOp x, std::span<const std::pair<UOp, UOp>> replacements) {
  std::vector<std::pair<UOp, UOp>> all;
  for (UOp u : toposort(x)) {
    if (u.is(Op::Load) || u.is_open()) all.emplace_back(u, u);
  }
  all.insert(all.end(), replacements.begin(), replacements.end());
  return substitute(x, all);
}

UOp exchange(UOp x, UOp atom, UOp other) {
  const std::pair<UOp, UOp> pair[] = {{atom, other}};
  return rewrite(substitute_outside_loads(x, pair), simplify_rules());
}

// Wherever the variable stands: a choice between a load and zero may have become the gate of the
// load.
UOp restore(UOp x, UOp variable, UOp sum) {
  const std::pair<UOp, UOp> pair[] = {{variable, sum}};
  return rewrite(substitute(x, pair), simplify_rules());
}

bool reaches(UOp x, UOp atom) {
  const std::vector<UOp> all = toposort(x);
  return std::find(all.begin(), all.end(), atom) != all.end();
}

// Whether there is anything in `x` that tighter bounds could decide: not in a sum of loops.
bool has_decisions(UOp x) {
  return std::ranges::any_of(toposort(x), [](UOp u) {
    return u.is(Op::IDiv) || u.is(Op::Mod) || u.is(Op::Min) || u.is(Op::Max) || u.is(Op::Where) ||
           is_comparison(u.op());
  });
}

// A way to write `x` with the sum of the fact as one variable; null if x has no use for it.
UOp with_sum_as_variable(const Fact& fact, UOp x) {
  const Bounds known = fact.sum.bounds();
  if (fact.lo > fact.hi || (fact.lo == known.lo && fact.hi == known.hi)) return {};
  if (fact.lo != fact.hi && !has_decisions(x)) return {};
  Graph& graph = x.graph();
  const UOp sum = fact.sum.build(graph);
  const UOp variable =
      fact.lo == fact.hi ? graph.index(fact.lo) : graph.variable(-1, fact.lo, fact.hi);
  UOp best;
  std::size_t best_size = toposort(x).size();
  for (const Term& t : fact.sum.terms) {
    if (std::abs(t.coefficient) != 1 || !reaches(x, t.atom)) continue;
    LinearForm rest = fact.sum;
    rest.add(t.atom, -t.coefficient);
    const UOp exchanged = (variable - rest.build(graph)) * t.coefficient;
    UOp result = exchange(x, t.atom, exchanged);
    if (!variable.is_const()) result = restore(result, variable, sum);
    if (const std::size_t size = toposort(result).size(); size < best_size) {
      best = result;
      best_size = size;
    }
  }
  return best;
}

// The same.  A detour through numbers that are too large is none.
UOp apply(const Fact& fact, UOp x) {
  try {
    return with_sum_as_variable(fact, x);
  } catch (const IndexOverflow&) {
    return {};
  }
}

// Each bounded sum is taken out of the expression, if that narrows what is left.
Bounds bounds_by(std::span<const Fact> facts, UOp x) {
  LinearForm rest = LinearForm::of(x);
  __int128 lo = 0, hi = 0;
  auto width = [](const LinearForm& f) {
    return static_cast<__int128>(f.bounds().hi) - f.bounds().lo;
  };
  for (const Fact& f : facts) {
    const Term pivot = f.sum.terms[0];
    const i64 c = rest.coefficient(pivot.atom);
    if (c == 0 || c % pivot.coefficient != 0) continue;
    const i64 times = c / pivot.coefficient;
    LinearForm without = rest;
    without.add(f.sum, -times);
    const __int128 a = static_cast<__int128>(times) * f.lo, b = static_cast<__int128>(times) * f.hi;
    if (std::max(a, b) - std::min(a, b) + width(without) >= width(rest)) continue;
    lo += std::min(a, b);
    hi += std::max(a, b);
    rest = without;
  }
  const Bounds b = rest.bounds();
  auto saturated = [](__int128 v) {
    return static_cast<i64>(std::clamp<__int128>(v, INT64_MIN, INT64_MAX));
  };
  return {saturated(lo + b.lo), saturated(hi + b.hi), 1};
}

// What a quotient or a remainder is if the facts leave it one quotient: several together may, such
// as those of rows and columns, where each alone does not.  Null if they do not.
UOp decided(std::span<const Fact> facts, UOp u) {
  if (!(u.is(Op::IDiv) || u.is(Op::Mod)) || !u.src(1).is_const()) return {};
  const i64 divisor = u.src(1).arg().value;
  const Bounds b = bounds_by(facts, u.src(0));
  if (divisor <= 0 || b.lo == INT64_MIN || b.hi == INT64_MAX) return {};
  const auto down = [=](i64 value) { return value / divisor - (value % divisor < 0); };
  const i64 quotient = down(b.lo);
  if (quotient != down(b.hi)) return {};
  Graph& graph = u.graph();
  return u.is(Op::IDiv) ? graph.index(quotient) : u.src(0) - graph.index(quotient * divisor);
}

UOp with_decided_divisions(std::span<const Fact> facts, UOp x) {
  if (facts.size() < 2) return x;
  std::vector<std::pair<UOp, UOp>> replacements;
  for (UOp u : toposort(x)) {
    if (const UOp value = decided(facts, u)) replacements.emplace_back(u, value);
  }
  if (replacements.empty()) return x;
  return rewrite(substitute_outside_loads(x, replacements), simplify_rules());
}

UOp simplify_under(std::span<const UOp> terms, UOp x) {
  Graph& graph = x.graph();
  std::vector<std::pair<UOp, UOp>> known;
  std::vector<Fact> facts;
  for (UOp t : terms) {
    known.emplace_back(t, graph.boolean(true));
    if (t.is(Op::Not)) known.emplace_back(t.src(0), graph.boolean(false));
    learn_from(&facts, t);
  }
  x = substitute_outside_loads(x, known);
  for (const Fact& f : facts) {
    if (const UOp better = apply(f, x)) x = better;
  }
  return with_decided_divisions(facts, x);
}

}  // namespace

std::vector<UOp> conjuncts(UOp gate) {
  std::vector<UOp> terms, pending{gate};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::And)) {
      pending.push_back(u.src(1));
      pending.push_back(u.src(0));
    } else if (std::find(terms.begin(), terms.end(), u) == terms.end()) {
      terms.push_back(u);
    }
  }
  return terms;
}

UOp simplify_under(UOp gate, UOp x) {
  if (x.dtype() != DType::Index && x.dtype() != DType::Bool) return x;
  const std::vector<UOp> terms = conjuncts(gate);
  if (terms.size() > max_conjuncts) return x;
  return simplify_under(terms, x);
}

UOp simplify_gate(UOp gate) {
  std::vector<UOp> terms = conjuncts(gate);
  if (terms.size() < 2 || terms.size() > max_conjuncts) return gate;
  for (std::size_t i = 0; i < terms.size();) {
    std::vector<UOp> others = terms;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    terms[i] = simplify_under(others, terms[i]);
    if (terms[i].is_const(1)) {
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      i++;
    }
  }
  return conjunction(std::move(terms), gate.graph());
}

Bounds bounds_under(UOp gate, UOp x) {
  std::vector<Fact> facts;
  if (gate) {
    for (UOp term : conjuncts(gate)) learn_from(&facts, term);
  }
  return bounds_by(facts, x);
}

}  // namespace croze
