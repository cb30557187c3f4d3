// index_join.cpp -- quotients and remainders of one dividend, met in a sum, become the dividend
// again.
//
//     k*(x % c) + k*c*(x / c)          ->  k*x
//     k*(x % c) + k*c*((x / c) % d)    ->  k*(x % (c*d))
//     k*x - k*c*(x / c)                ->  k*(x % c)
//     k*x - k*(x % c)                  ->  k*c*(x / c)
//
// The dividends need not be written alike: a canonical remainder has lost the multiples of its
// divisor that the quotient still shows.  So two terms belong together if the canonical quotient of
// the one's dividend is the other, or the canonical remainder.  Each join removes a division, so
// joining ends.
#include "croze/graph/index/index_division.h"

namespace croze::index_form {
namespace {

bool contains(const LinearForm& form, UOp atom) { return form.coefficient(atom) != 0; }

bool contains_all(const LinearForm& form, const LinearForm& part, i64 coefficient) {
  for (const Term& t : part.terms) {
    if (Wide{t.coefficient} * coefficient != form.coefficient(t.atom)) return false;
  }
  return !part.terms.empty();
}

bool is_atom(const LinearForm& form, UOp atom) {
  return form.constant == 0 && form.terms.size() == 1 && form.terms[0] == Term{atom, 1};
}

// k*(x % c) + k*c*(x / c)  ->  k*x, where `low` is the remainder and `high` the quotient.
bool join_quotient(LinearForm* form, Term low, Term high, Graph& graph) {
  const i64 c = divisor_of(low.atom);
  LinearForm whole = LinearForm::of(low.atom.src(0));
  if (!is_atom(divide(whole, c, graph), high.atom)) {
    if (divisor_of(high.atom) != c) return false;
    whole = LinearForm::of(high.atom.src(0));
    if (!is_atom(modulo(whole, c, graph), low.atom)) return false;
  }
  form->add(low.atom, -low.coefficient);
  form->add(high.atom, -high.coefficient);
  form->add(whole, low.coefficient);
  return true;
}

// k*(x % c) + k*c*((x / c) % d)  ->  k*(x % (c*d)).
bool join_remainder(LinearForm* form, Term low, Term high, Graph& graph) {
  const i64 c = divisor_of(low.atom), d = divisor_of(high.atom);
  if (overflows(Wide{c} * d)) return false;
  LinearForm whole;
  whole.add(LinearForm::of(high.atom.src(0)), c);
  whole.add(low.atom, 1);
  recombine(&whole, graph);
  if (contains(whole, low.atom)) return false;
  form->add(low.atom, -low.coefficient);
  form->add(high.atom, -high.coefficient);
  form->add(modulo(whole, c * d, graph), low.coefficient);
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
  if (is_quotient) {
    form->add(modulo(x, c, graph), k);
  } else {
    form->add(divide(x, c, graph), checked(Wide{k} * c));
  }
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
    if (is_division(high.atom, Op::IDiv) && join_quotient(form, low, high, graph)) return true;
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

}  // namespace

void recombine(LinearForm* form, Graph& graph) {
  if (form->terms.size() < 2) return;
  while (recombine_once(form, graph)) {
  }
}

}  // namespace croze::index_form
