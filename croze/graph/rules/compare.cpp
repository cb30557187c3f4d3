// compare.cpp -- comparisons.
//
// Normal form on Index: a sum without constant on the left, compared to a constant by `<`, `==` or
// `!=`, its coefficients without common factor.  Then bounds decide most, and equal tests are one
// node.
#include <cstdlib>
#include <numeric>

#include "croze/graph/analysis/measure.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

// clang-format off
constexpr Rule compare[] = {
    // decided by bounds
    rule(x < y,                      1,                          x < y),
    rule(x < y,                      0,                          y <= x),
    rule(x <= y,                     1,                          x <= y),
    rule(x <= y,                     0,                          y < x),
    rule(x == y,                     0,                          x < y || y < x),
    rule(x != y,                     1,                          x < y || y < x),
    rule(x < x,                      0),
    rule(x <= x,                     1),
    rule(x == x,                     1),
    rule(x != x,                     0),

    // negations; not of floats, where with a NaN neither a comparison nor its opposite holds
    rule(~(x.of(integrals) < y),     y <= x),
    rule(~(x.of(integrals) <= y),    y < x),

    // of booleans
    rule(a == 1,                     a),
    rule(a == 0,                     ~a),
    rule(a != 0,                     a),
    rule(a != 1,                     ~a),
    rule(a < g,                      ~a & g),
    rule(a <= g,                     ~a | g),
    rule(~a == ~g,                   a == g),
    rule(~a != ~g,                   a != g),
    rule(cast(a) == 0,               ~a),
    rule(cast(a) == 1,               a),
    rule(cast(a) != 0,               a),
    rule(cast(a) != 1,               ~a),
    rule(cast(a) < 1,                ~a),
    rule(0 < cast(a).of(ints),       a),
};

// True on every dtype, NaN included.
constexpr Rule logic[] = {
    rule(~(x == y),                  x != y),
    rule(~(x != y),                  x == y),
};
// clang-format on

using i64 = std::int64_t;

using Wide = __int128;

Wide floor_div(Wide a, i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
i64 ceil_div(i64 a, i64 b) { return static_cast<i64>(-floor_div(-Wide{a}, b)); }

// x - y as a sum and what it is compared to: sum ? bound.
struct Comparison {
  LinearForm sum;
  i64 bound;
};

Comparison difference(UOp p, UOp q) {
  Comparison result{LinearForm::of(p), 0};
  result.sum.add(LinearForm::of(q), -1);
  result.bound = -result.sum.constant;
  result.sum.constant = 0;
  return result;
}

i64 common_factor(const LinearForm& form) {
  i64 g = 0;
  for (const Term& t : form.terms) g = std::gcd(g, t.coefficient);
  return g;
}

void divide_terms(LinearForm* form, i64 by) {
  for (Term& t : form->terms) t.coefficient /= by;
}

// d*X + Y < b  is  X < k  where the bounds of Y decide it on both sides: where X < k even the most
// of Y stays below b, and where k <= X even the least does not.
bool drop_small_terms(Comparison* c) {
  for (const Term& candidate : c->sum.terms) {
    const i64 d = std::abs(candidate.coefficient);
    if (d == 1) continue;
    LinearForm large, small;
    for (const Term& t : c->sum.terms) (t.coefficient % d == 0 ? large : small).terms.push_back(t);
    if (small.terms.empty()) continue;
    const Bounds b = small.bounds();
    if (b.lo == INT64_MIN || b.hi == INT64_MAX) continue;
    const Wide k = floor_div(Wide{c->bound} - 1 - b.hi, d) + 1;
    if (k * d + b.lo < c->bound || k * d != static_cast<i64>(k * d)) continue;
    c->sum = large;
    c->bound = static_cast<i64>(k * d);
    return true;
  }
  return false;
}

UOp build(Op op, const Comparison& c, Graph& graph) {
  return graph.make(op, DType::Bool, {c.sum.build(graph), graph.index(c.bound)});
}

// p < q  is  sum < bound  in lowest terms.
UOp less_in_lowest_terms(UOp p, UOp q, Graph& graph) {
  Comparison c = difference(p, q);
  for (;;) {
    if (c.sum.terms.empty()) return graph.boolean(0 < c.bound);
    const i64 g = common_factor(c.sum);
    divide_terms(&c.sum, g);
    c.bound = ceil_div(c.bound, g);
    if (!drop_small_terms(&c)) break;
  }
  // x / c < k  is  x < c*k.
  if (c.sum.terms.size() == 1 && c.sum.terms[0].coefficient == 1) {
    const UOp atom = c.sum.terms[0].atom;
    i64 bound;
    if (atom.is(Op::IDiv) && atom.src(1).is_const() && atom.src(1).const_int() > 0 &&
        !__builtin_mul_overflow(c.bound, atom.src(1).const_int(), &bound)) {
      return less_in_lowest_terms(atom.src(0), graph.index(bound), graph);
    }
  }
  if (c.sum.has_open_ranges()) {  // which stay below their trip counts
    const Bounds b = c.sum.bounds();
    if (b.hi < c.bound || b.lo >= c.bound) return graph.boolean(b.hi < c.bound);
  }
  return build(Op::Lt, c, graph);
}

UOp normal_less(const Match& m) {
  if (m.root.rank() != 0) return {};
  return less_in_lowest_terms(m[x], m[y], m.graph);
}

// x <= y  is  x < y + 1.
UOp normal_less_equal(const Match& m) {
  if (m.root.rank() != 0) return {};
  return less_in_lowest_terms(m[x], m[y] + 1, m.graph);
}

// x == y  is  sum == bound  in lowest terms, the first coefficient positive if that makes it
// smaller: the negative of a condition weighs more than the condition (measure.cpp).
UOp normal_equal(const Match& m) {
  if (m.root.rank() != 0) return {};
  const bool is_equal = m.root.is(Op::Eq);
  // Either operand may be the one that stands first.
  Comparison c = m[x].is_const() ? difference(m[y], m[x]) : difference(m[x], m[y]);
  if (c.sum.terms.empty()) return m.graph.boolean((c.bound == 0) == is_equal);
  const i64 g = common_factor(c.sum);
  if (c.bound % g != 0) return m.graph.boolean(!is_equal);
  divide_terms(&c.sum, g);
  c.bound /= g;
  const UOp straight = build(m.root.op(), c, m.graph);
  if (c.sum.terms[0].coefficient > 0) return straight;
  divide_terms(&c.sum, -1);
  c.bound /= -1;
  const UOp turned = build(m.root.op(), c, m.graph);
  return is_seen_smaller(turned, m.root).value_or(false) ? turned : straight;
}

constexpr Rule index_compare[] = {
    rule(x < y, normal_less),
    rule(x <= y, normal_less_equal),
    rule(x == y, normal_equal),
    rule(x != y, normal_equal),
};

}  // namespace

const RuleList& compare_list() {
  static constexpr RuleList list{"compare", Numbers::Wrapping, compare};
  return list;
}

const RuleList& index_compare_list() {
  static constexpr RuleList list{"index compare", Numbers::Index, index_compare};
  return list;
}

const RuleList& logic_list() {
  static constexpr RuleList list{"logic", Numbers::All, logic};
  return list;
}

const RuleSet& compare_rules() {
  static const RuleSet& set =
      *new RuleSet("compare", {compare_list(), index_compare_list(), logic_list()});
  return set;
}

}  // namespace croze
