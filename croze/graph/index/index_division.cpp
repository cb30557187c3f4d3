// index_division.cpp -- floor division and remainder of sums by constants.
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
#include "croze/graph/index/index_division.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace croze::index_form {
namespace {

i64 floor_div(i64 a, i64 b) {
  const i64 q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

i64 floor_mod(i64 a, i64 b) { return a - floor_div(a, b) * b; }

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

LinearForm atom_form(Op op, const LinearForm& core, i64 by, Graph& graph) {
  LinearForm form;
  form.add(graph.make(op, DType::Index, {core.build(graph), graph.index(by)}), 1);
  return form;
}

// (x/a + y) / c = (x + a*y) / (a*c); false if there is no such term.
bool merge_nested_quotient(const LinearForm& core, i64 by, Graph& graph, LinearForm* result) {
  for (const Term& t : core.terms) {
    if (t.coefficient != 1 || !is_division(t.atom, Op::IDiv)) continue;
    const i64 inner = divisor_of(t.atom);
    if (overflows(Wide{inner} * by)) continue;
    LinearForm merged = LinearForm::of(t.atom.src(0)), rest = core;
    rest.add(t.atom, -1);
    merged.add(rest, inner);
    *result = divide(merged, inner * by, graph);
    return true;
  }
  return false;
}

LinearForm core_quotient(const LinearForm& core, i64 by, Graph& graph) {
  LinearForm merged;
  if (merge_nested_quotient(core, by, graph, &merged)) return merged;
  if (core.terms.size() == 1 && core.constant == 0 && core.terms[0].coefficient == 1) {
    const UOp atom = core.terms[0].atom;
    if (is_division(atom, Op::Mod) && divisor_of(atom) % by == 0) {  // (x % (b*c)) / c = (x/c) % b
      const LinearForm inner = divide(LinearForm::of(atom.src(0)), by, graph);
      return modulo(inner, divisor_of(atom) / by, graph);
    }
  }
  return atom_form(Op::IDiv, core, by, graph);
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

LinearForm core_remainder(LinearForm core, i64 by, Graph& graph) {
  if (!unwrap_remainders(&core, by)) return atom_form(Op::Mod, core, by, graph);
  while (unwrap_remainders(&core, by)) {
  }
  return modulo(core, by, graph);
}

}  // namespace

LinearForm divide(const LinearForm& dividend, i64 by, Graph& graph) {
  Division d(dividend, by);
  if (d.core.terms.empty()) return d.quotient;
  d.quotient.add(core_quotient(d.core, d.divisor, graph), 1);
  recombine(&d.quotient, graph);
  return d.quotient;
}

LinearForm modulo(const LinearForm& dividend, i64 by, Graph& graph) {
  Division d(dividend, by);
  if (d.core.terms.empty()) return d.remainder;
  d.remainder.add(core_remainder(d.core, d.divisor, graph), d.scale);
  recombine(&d.remainder, graph);
  return d.remainder;
}

}  // namespace croze::index_form
