// index_form.cpp -- sums and products of index arithmetic, and the constructors of its nodes.
#include "croze/graph/index/index_form.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "croze/graph/analysis/factors.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_division.h"

namespace croze {

using namespace index_form;

namespace {

bool atom_less(UOp a, UOp b) { return a.key() != b.key() ? a.key() < b.key() : a.id() < b.id(); }

}  // namespace

// ---- sums -------------------------------------------------------------------------------------

void LinearForm::add(UOp atom, i64 coefficient) {
  if (coefficient == 0) return;
  Term* at = std::lower_bound(terms.begin(), terms.end(), atom,
                              [](const Term& t, UOp a) { return atom_less(t.atom, a); });
  if (at == terms.end() || at->atom != atom) {
    terms.insert(at, {atom, coefficient});
    return;
  }
  at->coefficient = checked(Wide{at->coefficient} + coefficient);
  if (at->coefficient == 0) terms.erase(at);
}

void LinearForm::add(const LinearForm& other, i64 coefficient) {
  constant = checked(Wide{other.constant} * coefficient + constant);
  for (const Term& t : other.terms) add(t.atom, checked(Wide{t.coefficient} * coefficient));
}

LinearForm LinearForm::of(UOp index) {
  LinearForm form;
  SmallVector<UOp, 16> pending{index};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is_const()) {
      form.constant = checked(Wide{form.constant} + u.const_int());
    } else if (u.is(Op::Add)) {
      pending.push_back(u.src(1));
      pending.push_back(u.src(0));
    } else if (u.is(Op::Mul) && u.src(1).is_const()) {
      form.add(u.src(0), u.src(1).const_int());
    } else {
      form.add(u, 1);
    }
  }
  return form;
}

UOp LinearForm::build(Graph& graph) const {
  UOp sum;
  for (const Term& t : terms) {
    UOp term = t.atom;
    if (t.coefficient != 1) {
      term = graph.make(Op::Mul, DType::Index, {t.atom, graph.index(t.coefficient)});
    }
    sum = sum ? graph.make(Op::Add, DType::Index, {sum, term}) : term;
  }
  if (!sum) return graph.index(constant);
  if (constant == 0) return sum;
  return graph.make(Op::Add, DType::Index, {sum, graph.index(constant)});
}

i64 LinearForm::coefficient(UOp atom) const {
  for (const Term& t : terms) {
    if (t.atom == atom) return t.coefficient;
  }
  return 0;
}

Bounds LinearForm::bounds() const {
  Bounds b = bounds_of_atoms();
  if (!has_open_ranges()) return b;
  try {
    b.hi = std::min(b.hi, with_last_turns(true).bounds_of_atoms().hi);
    b.lo = std::max(b.lo, with_last_turns(false).bounds_of_atoms().lo);
  } catch (const IndexOverflow&) {
    // The atoms alone have to do.
  }
  return b;
}

bool LinearForm::has_open_ranges() const {
  return std::ranges::any_of(terms, [](const Term& t) { return t.atom.is_open(); });
}

// The sum with trip - 1 in place of each open loop that its coefficient makes larger, or smaller:
// no less, or no more, than any value of the sum.
LinearForm LinearForm::with_last_turns(bool of_positive) const {
  LinearForm result;
  result.constant = constant;
  for (const Term& t : terms) {
    if (t.atom.is_open() && (t.coefficient > 0) == of_positive) {
      result.add(LinearForm::of(t.atom.trip_count()), t.coefficient);
      result.constant = checked(Wide{result.constant} - t.coefficient);
    } else {
      result.add(t.atom, t.coefficient);
    }
  }
  return result;
}

Bounds LinearForm::bounds_of_atoms() const {
  Wide lo = constant, hi = constant;
  i64 multiple = constant == INT64_MIN ? 1 : std::abs(constant);
  for (const Term& t : terms) {
    const Wide a = Wide{t.atom.lo()} * t.coefficient, b = Wide{t.atom.hi()} * t.coefficient;
    lo += std::min(a, b);
    hi += std::max(a, b);
    multiple = std::gcd(multiple, t.coefficient);
  }
  return {static_cast<i64>(std::clamp<Wide>(lo, INT64_MIN, INT64_MAX)),
          static_cast<i64>(std::clamp<Wide>(hi, INT64_MIN, INT64_MAX)), multiple};
}

namespace {

// ---- products ---------------------------------------------------------------------------------

// The product of atoms is an atom: its factors in order.
UOp product_of(SmallVector<UOp, 8> factors, Graph& graph) {
  if (factors.empty()) return graph.index(1);
  std::sort(factors.begin(), factors.end(), atom_less);
  UOp product = factors[0];
  for (i64 i = 1; i < factors.size(); i++) {
    product = graph.make(Op::Mul, DType::Index, {product, factors[i]});
  }
  return product;
}

UOp multiply_atoms(UOp a, UOp b, Graph& graph) {
  SmallVector<UOp, 8> factors = factors_of(a);
  const SmallVector<UOp, 8> others = factors_of(b);
  factors.append(others.begin(), others.end());
  return product_of(std::move(factors), graph);
}

UOp multiply_sums(const LinearForm& a, const LinearForm& b, Graph& graph) {
  LinearForm product;
  product.add(b, a.constant);
  for (const Term& s : a.terms) {
    product.add(s.atom, checked(Wide{s.coefficient} * b.constant));
    for (const Term& t : b.terms) {
      product.add(multiply_atoms(s.atom, t.atom, graph),
                  checked(Wide{s.coefficient} * t.coefficient));
    }
  }
  return build_recombined(std::move(product), graph);
}

// ---- divisors that are not constants ----------------------------------------------------------

bool is_nonzero(UOp u) { return u.lo() > 0 || u.hi() < 0; }

// `term` divided by coefficient * atom, if that is exact for every value.
bool divide_term(const Term& term, const Term& by, Graph& graph, LinearForm* quotient) {
  if (term.coefficient % by.coefficient != 0) return false;
  SmallVector<UOp, 8> factors = factors_of(term.atom);
  for (UOp d : factors_of(by.atom)) {
    UOp* at = std::find(factors.begin(), factors.end(), d);
    if (at == factors.end()) return false;
    factors.erase(at);
  }
  const i64 k = term.coefficient / by.coefficient;
  if (factors.empty()) {
    quotient->constant = checked(Wide{quotient->constant} + k);
  } else {
    quotient->add(product_of(std::move(factors), graph), k);
  }
  return true;
}

// a = b * quotient + rest, for a divisor that is never zero.
void divide_symbolic(UOp a, UOp b, LinearForm* quotient, LinearForm* rest) {
  *rest = LinearForm::of(a);
  const LinearForm divisor = LinearForm::of(b);
  if (*rest == divisor) {
    quotient->constant = 1;
    *rest = {};
    return;
  }
  if (divisor.terms.size() != 1 || divisor.constant != 0) return;
  const LinearForm dividend = std::move(*rest);
  *rest = {};
  rest->constant = dividend.constant;
  for (const Term& t : dividend.terms) {
    if (!divide_term(t, divisor.terms[0], a.graph(), quotient)) rest->terms.push_back(t);
  }
}

// Whether 0 <= x < divisor wherever x has a value.
bool lies_below(const LinearForm& x, UOp divisor) {
  if (x.bounds().lo < 0) return false;
  LinearForm room = LinearForm::of(divisor);
  room.add(x, -1);
  return room.bounds().lo > 0;
}

// A loop that the divisor is the trip count of has a value only where that is not 0.
bool is_nonzero(UOp divisor, UOp dividend) {
  if (is_nonzero(divisor)) return true;
  return std::ranges::any_of(LinearForm::of(dividend).terms, [&](const Term& t) {
    return t.atom.is_open() && t.atom.trip_count() == divisor;
  });
}

UOp divide_by_node(UOp a, UOp b, Graph& graph) {
  if (!is_nonzero(b, a)) return graph.make(Op::IDiv, DType::Index, {a, b});
  LinearForm quotient, rest;
  divide_symbolic(a, b, &quotient, &rest);
  if (lies_below(rest, b)) return build_recombined(std::move(quotient), graph);
  const UOp core = graph.make(Op::IDiv, DType::Index, {rest.build(graph), b});
  return index_add(quotient.build(graph), core);
}

UOp modulo_by_node(UOp a, UOp b, Graph& graph) {
  if (!is_nonzero(b, a)) return graph.make(Op::Mod, DType::Index, {a, b});
  LinearForm quotient, rest;
  divide_symbolic(a, b, &quotient, &rest);
  const UOp core = rest.build(graph);
  if (lies_below(rest, b)) return core;
  return graph.make(Op::Mod, DType::Index, {core, b});
}

// A simplification must not lose the shape: 0 * x is no scalar where x is a vector.
UOp with_shape(Op op, UOp a, UOp b, UOp result) {
  if (result.rank() == std::max(a.rank(), b.rank())) return result;
  return a.graph().make(op, DType::Index, {a, b});
}

}  // namespace

// ---- the constructors -------------------------------------------------------------------------

UOp index_add(UOp a, UOp b) {
  if (a.is_const() && a.const_int() == 0) return with_shape(Op::Add, a, b, b);
  if (b.is_const() && b.const_int() == 0) return with_shape(Op::Add, a, b, a);
  LinearForm sum = LinearForm::of(a);
  sum.add(LinearForm::of(b), 1);
  return with_shape(Op::Add, a, b, build_recombined(std::move(sum), a.graph()));
}

UOp index_mul(UOp a, UOp b) {
  Graph& graph = a.graph();
  if (a.is_const()) std::swap(a, b);
  if (!b.is_const()) {
    return with_shape(Op::Mul, a, b, multiply_sums(LinearForm::of(a), LinearForm::of(b), graph));
  }
  if (b.const_int() == 1) return a;
  LinearForm product;
  product.add(LinearForm::of(a), b.const_int());
  return with_shape(Op::Mul, a, b, product.build(graph));
}

UOp index_div(UOp a, UOp b) {
  Graph& graph = a.graph();
  UOp result;
  if (!b.is_const()) {
    result = divide_by_node(a, b, graph);
  } else if (b.const_int() == 0) {
    result = graph.index(0);
  } else if (b.const_int() < 0) {
    result = index_div(index_mul(a, graph.index(-1)), graph.index(-b.const_int()));
  } else {
    result = divide(LinearForm::of(a), b.const_int(), graph).build(graph);
  }
  return with_shape(Op::IDiv, a, b, result);
}

UOp index_mod(UOp a, UOp b) {
  Graph& graph = a.graph();
  UOp result;
  if (!b.is_const()) {
    result = modulo_by_node(a, b, graph);
  } else if (b.const_int() == 0) {
    result = a;
  } else if (b.const_int() < 0) {
    const UOp minus = graph.index(-1);
    result = index_mul(index_mod(index_mul(a, minus), graph.index(-b.const_int())), minus);
  } else {
    result = modulo(LinearForm::of(a), b.const_int(), graph).build(graph);
  }
  return with_shape(Op::Mod, a, b, result);
}

Stride stride_over(UOp index, UOp range) {
  if (!index.varies_over(range)) return {true, 0};
  const LinearForm form = LinearForm::of(index);
  Stride stride{true, 0};
  for (const Term& t : form.terms) {
    if (t.atom == range) {
      stride.step = t.coefficient;
    } else if (t.atom.varies_over(range)) {
      return {false, 0};
    }
  }
  return stride;
}

}  // namespace croze
