// index_form.cpp -- sums of index arithmetic, and floor division and remainder on them.
//
// Division by a constant c keeps, for the dividend S, the pair of identities
//
//     S / c = quotient + core / divisor        S % c = remainder + scale * (core % divisor)
//
// with scale * divisor = c, and moves as much as it can out of the core: multiples of the divisor
// go to the quotient; a factor common to the core and the divisor goes to the scale; and if the
// core is d*X + Y with d | divisor and Y inside one period of d, Y goes to the remainder and only X
// stays. Because both operations read the same pair, a quotient and a remainder of one dividend
// always recombine: x % c + (x / c) * c is x again.  That undoes a reshape: a chain of divisions
// and remainders of merged ranges collapses to the ranges.
//
// Every step shrinks the divisor or removes terms, so the loops end; recursion follows the nesting
// of divisions inside divisions only.
#include "graph/index_form.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/graph.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Wide = __int128;

i64 checked(Wide value) {
  ensure(value == static_cast<i64>(value), "index arithmetic leaves 64 bits");
  return static_cast<i64>(value);
}

bool overflows(Wide value) { return value != static_cast<i64>(value); }

i64 floor_div(i64 a, i64 b) {
  const i64 q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

i64 floor_mod(i64 a, i64 b) { return a - floor_div(a, b) * b; }

bool atom_less(UOp a, UOp b) { return a.key() != b.key() ? a.key() < b.key() : a.id() < b.id(); }

bool is_division(UOp u, Op op) {
  return u.is(op) && u.src(1).is_const() && u.src(1).const_int() > 0;
}

i64 divisor_of(UOp u) { return u.src(1).const_int(); }

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

// The period of `divisor` in which all values of `form` lie: floor(value / divisor), if it is one.
bool in_one_period(const LinearForm& form, i64 divisor, i64* period) {
  const Bounds b = form.bounds();
  if (b.lo == INT64_MIN || b.hi == INT64_MAX) return false;
  *period = floor_div(b.lo, divisor);
  return floor_div(b.hi, divisor) == *period;
}

// ---- division of a sum by a constant ----------------------------------------------------------

struct Division {
  LinearForm quotient, remainder, core;
  i64 scale = 1, divisor = 1;

  Division(LinearForm dividend, i64 by) : core(std::move(dividend)), divisor(by) {
    while (!settle_period() && (extract_factor() || split())) {
    }
  }

 private:
  // Moves multiples of the divisor to the quotient.  Coefficients keep their sign.
  void extract_multiples() {
    LinearForm rest;
    for (const Term& t : core.terms) {
      quotient.add(t.atom, t.coefficient / divisor);
      if (t.coefficient % divisor) rest.terms.push_back({t.atom, t.coefficient % divisor});
    }
    quotient.constant = checked(Wide{quotient.constant} + floor_div(core.constant, divisor));
    rest.constant = floor_mod(core.constant, divisor);
    core = std::move(rest);
  }

  // The core in one period of the divisor is all remainder.  Of congruent coefficients the ones of
  // least magnitude are tried too: 7*x % 8 is -x % 8.
  bool settle_period() {
    if (finish_in_period()) return true;
    extract_multiples();
    if (finish_in_period()) return true;
    LinearForm near, carry;
    near.constant = core.constant;
    for (const Term& t : core.terms) {
      i64 k = t.coefficient;
      if (k > divisor / 2) k -= divisor;
      if (k < -divisor / 2) k += divisor;
      near.terms.push_back({t.atom, k});
      carry.add(t.atom, (t.coefficient - k) / divisor);
    }
    i64 period;
    if (carry.terms.empty() || !in_one_period(near, divisor, &period)) return false;
    quotient.add(carry, 1);
    core = std::move(near);
    return finish_in_period();
  }

  bool finish_in_period() {
    i64 period;
    if (!in_one_period(core, divisor, &period)) return false;
    quotient.constant = checked(Wide{quotient.constant} + period);
    core.constant = checked(core.constant - Wide{period} * divisor);
    remainder.add(core, scale);
    core = {};
    return true;
  }

  // (g*X + k) / (g*d) = (X + k/g) / d, and the remainder is g * ((X + k/g) % d) + k%g.
  bool extract_factor() {
    if (core.terms.empty()) return false;
    i64 g = divisor;
    for (const Term& t : core.terms) g = std::gcd(g, t.coefficient);
    if (g == 1) return false;
    divide_core(g);
    return true;
  }

  // Divides the core and the divisor by g, which divides all of the core but the constant.
  void divide_core(i64 g) {
    remainder.constant = checked(Wide{floor_mod(core.constant, g)} * scale + remainder.constant);
    core.constant = floor_div(core.constant, g);
    for (Term& t : core.terms) t.coefficient /= g;
    divisor /= g;
    scale *= g;
  }

  // core = d*X + Y with Y in one period of d, for the greatest such d that divides the divisor.
  bool split() {
    if (core.terms.size() < 2) return false;
    SmallVector<i64, 8> candidates;
    for (const Term& t : core.terms) candidates.push_back(std::gcd(divisor, t.coefficient));
    std::sort(candidates.begin(), candidates.end(), std::greater<>());
    for (i64 d : candidates) {
      if (d > 1 && split_at(d)) return true;
    }
    return false;
  }

  bool split_at(i64 d) {
    LinearForm upper, lower;
    for (const Term& t : core.terms) {
      (t.coefficient % d == 0 ? upper : lower).terms.push_back(t);
    }
    lower.constant = core.constant;
    i64 period;
    if (!in_one_period(lower, d, &period)) return false;
    lower.constant -= period * d;
    remainder.add(lower, scale);
    core = std::move(upper);
    core.constant = period * d;
    divide_core(d);
    return true;
  }
};

// ---- quotient and remainder of the core -------------------------------------------------------

UOp divide(const LinearForm& dividend, i64 by, Graph& graph);
UOp modulo(const LinearForm& dividend, i64 by, Graph& graph);

// (x/a + y) / c = (x + a*y) / (a*c); a null handle if there is no such term.
UOp merge_nested_quotient(const LinearForm& core, i64 by, Graph& graph) {
  for (const Term& t : core.terms) {
    if (t.coefficient != 1 || !is_division(t.atom, Op::IDiv)) continue;
    const i64 inner = divisor_of(t.atom);
    if (overflows(Wide{inner} * by)) continue;
    LinearForm merged = LinearForm::of(t.atom.src(0)), rest = core;
    rest.add(t.atom, -1);
    merged.add(rest, inner);
    return divide(merged, inner * by, graph);
  }
  return {};
}

UOp core_quotient(const LinearForm& core, i64 by, Graph& graph) {
  if (UOp merged = merge_nested_quotient(core, by, graph)) return merged;
  if (core.terms.size() == 1 && core.constant == 0 && core.terms[0].coefficient == 1) {
    const UOp atom = core.terms[0].atom;
    if (is_division(atom, Op::Mod) && divisor_of(atom) % by == 0) {  // (x % (b*c)) / c = (x/c) % b
      const UOp inner = divide(LinearForm::of(atom.src(0)), by, graph);
      return modulo(LinearForm::of(inner), divisor_of(atom) / by, graph);
    }
  }
  return graph.make(Op::IDiv, DType::Index, {core.build(graph), graph.index(by)});
}

// In a sum modulo c, k * (x % m) is k * x if c divides k * m.
bool unwrap_remainders(LinearForm* core, i64 by) {
  for (const Term& t : core->terms) {
    if (!is_division(t.atom, Op::Mod)) continue;
    if ((Wide{t.coefficient} * divisor_of(t.atom)) % by != 0) continue;
    const Term found = t;
    core->add(found.atom, -found.coefficient);
    core->add(LinearForm::of(found.atom.src(0)), found.coefficient);
    return true;
  }
  return false;
}

UOp core_remainder(LinearForm core, i64 by, Graph& graph) {
  if (unwrap_remainders(&core, by)) {
    while (unwrap_remainders(&core, by)) {
    }
    return modulo(core, by, graph);
  }
  return graph.make(Op::Mod, DType::Index, {core.build(graph), graph.index(by)});
}

UOp divide(const LinearForm& dividend, i64 by, Graph& graph) {
  Division d(dividend, by);
  if (!d.core.terms.empty()) {
    const UOp core = core_quotient(d.core, d.divisor, graph);
    return index_add(d.quotient.build(graph), core);
  }
  return d.quotient.build(graph);
}

UOp modulo(const LinearForm& dividend, i64 by, Graph& graph) {
  Division d(dividend, by);
  if (!d.core.terms.empty()) {
    const UOp core = core_remainder(std::move(d.core), d.divisor, graph);
    return index_add(d.remainder.build(graph), index_mul(core, graph.index(d.scale)));
  }
  return d.remainder.build(graph);
}

// ---- recombination ----------------------------------------------------------------------------

bool contains(const LinearForm& form, UOp atom) { return form.coefficient(atom) != 0; }

bool contains_all(const LinearForm& form, const LinearForm& part, i64 coefficient) {
  for (const Term& t : part.terms) {
    if (Wide{t.coefficient} * coefficient != form.coefficient(t.atom)) return false;
  }
  return !part.terms.empty();
}

// k*(x % c) + k*c*(x / c)  ->  k*x, where `low` is the remainder and `high` the quotient.
bool join_quotient(LinearForm* form, Term low, Term high) {
  const i64 c = divisor_of(low.atom);
  const UOp m = low.atom.src(0), d = high.atom.src(0);
  UOp whole;
  if (index_div(m, low.atom.src(1)) == high.atom) {
    whole = m;
  } else if (divisor_of(high.atom) == c && index_mod(d, low.atom.src(1)) == low.atom) {
    whole = d;
  } else {
    return false;
  }
  form->add(low.atom, -low.coefficient);
  form->add(high.atom, -high.coefficient);
  form->add(LinearForm::of(whole), low.coefficient);
  return true;
}

// k*(x % c) + k*c*((x / c) % d)  ->  k*(x % (c*d)).
bool join_remainder(LinearForm* form, Term low, Term high, Graph& graph) {
  const i64 c = divisor_of(low.atom), d = divisor_of(high.atom);
  if (overflows(Wide{c} * d)) return false;
  LinearForm whole =
      LinearForm::of(index_add(index_mul(high.atom.src(0), graph.index(c)), low.atom));
  if (contains(whole, low.atom)) return false;
  form->add(low.atom, -low.coefficient);
  form->add(high.atom, -high.coefficient);
  form->add(LinearForm::of(modulo(whole, c * d, graph)), low.coefficient);
  return true;
}

// k*x - k*c*(x / c)  ->  k*(x % c)   and   k*x - k*(x % c)  ->  k*c*(x / c).
bool join_difference(LinearForm* form, Term t, Graph& graph) {
  const bool is_quotient = t.atom.is(Op::IDiv);
  const i64 c = divisor_of(t.atom);
  if (is_quotient && t.coefficient % c != 0) return false;
  const i64 k = is_quotient ? -(t.coefficient / c) : -t.coefficient;
  const LinearForm x = LinearForm::of(t.atom.src(0));
  if (!contains_all(*form, x, k)) return false;
  form->add(t.atom, -t.coefficient);
  form->add(x, -k);
  const UOp other = is_quotient ? modulo(x, c, graph) : divide(x, c, graph);
  form->add(LinearForm::of(other), is_quotient ? k : checked(Wide{k} * c));
  return true;
}

// The same with a divisor that is not a constant: k*(x % y) + k*((x / y) * y)  ->  k*x.
bool join_symbolic(LinearForm* form, Term low) {
  const UOp x = low.atom.src(0), y = low.atom.src(1);
  for (const Term& high : form->terms) {
    if (high.coefficient != low.coefficient || !high.atom.is(Op::Mul)) continue;
    const UOp p = high.atom.src(0), q = high.atom.src(1);
    auto is_quotient = [&](UOp u) { return u.is(Op::IDiv) && u.src(0) == x && u.src(1) == y; };
    if (!(is_quotient(p) && q == y) && !(is_quotient(q) && p == y)) continue;
    const Term found = high;
    form->add(found.atom, -found.coefficient);
    form->add(low.atom, -low.coefficient);
    form->add(LinearForm::of(x), low.coefficient);
    return true;
  }
  return false;
}

bool join_low(LinearForm* form, Term low, Graph& graph) {
  const Wide high_coefficient = Wide{low.coefficient} * divisor_of(low.atom);
  for (const Term& t : form->terms) {
    if (t.coefficient != high_coefficient || t.atom == low.atom) continue;
    const Term high = t;
    if (is_division(high.atom, Op::IDiv) && join_quotient(form, low, high)) return true;
    if (is_division(high.atom, Op::Mod) && join_remainder(form, low, high, graph)) return true;
  }
  return false;
}

bool recombine_once(LinearForm* form, Graph& graph) {
  for (const Term& t : form->terms) {
    const Term low = t;
    if (is_division(low.atom, Op::Mod)) {
      if (join_low(form, low, graph)) return true;
    } else if (low.atom.is(Op::Mod) && !low.atom.src(1).is_const()) {
      if (join_symbolic(form, low)) return true;
    }
  }
  for (const Term& t : form->terms) {
    const Term low = t;
    if (!is_division(low.atom, Op::Mod) && !is_division(low.atom, Op::IDiv)) continue;
    if (join_difference(form, low, graph)) return true;
  }
  return false;
}

UOp build_recombined(LinearForm form, Graph& graph) {
  if (form.terms.size() > 1) {
    while (recombine_once(&form, graph)) {
    }
  }
  return form.build(graph);
}

// ---- products ---------------------------------------------------------------------------------

void append_factors(UOp atom, SmallVector<UOp, 8>* factors) {
  SmallVector<UOp, 8> pending{atom};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::Mul)) {
      pending.push_back(u.src(0));
      pending.push_back(u.src(1));
    } else {
      factors->push_back(u);
    }
  }
}

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
  SmallVector<UOp, 8> factors;
  append_factors(a, &factors);
  append_factors(b, &factors);
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
  SmallVector<UOp, 8> factors, divisors;
  append_factors(term.atom, &factors);
  append_factors(by.atom, &divisors);
  for (UOp d : divisors) {
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

bool lies_below(const Bounds& x, UOp divisor) { return x.lo >= 0 && x.hi < divisor.lo(); }

UOp divide_by_node(UOp a, UOp b, Graph& graph) {
  if (!is_nonzero(b)) return graph.make(Op::IDiv, DType::Index, {a, b});
  LinearForm quotient, rest;
  divide_symbolic(a, b, &quotient, &rest);
  if (lies_below(rest.bounds(), b)) return build_recombined(std::move(quotient), graph);
  const UOp core = graph.make(Op::IDiv, DType::Index, {rest.build(graph), b});
  return index_add(quotient.build(graph), core);
}

UOp modulo_by_node(UOp a, UOp b, Graph& graph) {
  if (!is_nonzero(b)) return graph.make(Op::Mod, DType::Index, {a, b});
  LinearForm quotient, rest;
  divide_symbolic(a, b, &quotient, &rest);
  const UOp core = rest.build(graph);
  if (lies_below(rest.bounds(), b)) return core;
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
    result = divide(LinearForm::of(a), b.const_int(), graph);
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
    result = modulo(LinearForm::of(a), b.const_int(), graph);
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
