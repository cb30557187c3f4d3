// algebra.cpp -- integers and bool, wrapping.
//
// Normal form: a sum or product carries its constant last and outermost, x + x is a product,
// negation is pushed into constants, min and max of constants are joined.  Each rule removes a node
// or moves a constant outwards, so rewriting ends.
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

// clang-format off
constexpr Rule algebra[] = {
    // identities
    rule(x + 0,                      x),
    rule(x * 1,                      x),
    rule(x * 0,                      0),
    rule(x / 1,                      x),
    rule(x % 1,                      0),
    rule(x % x,                      0),
    rule(x / x,                      1,                          0 < x),
    rule(-(-x),                      x),
    rule(x.of(ints) + -x,            0),
    rule((x.of(ints) + y) + -x,      y),
    rule((x + -y.of(ints)) + y,      x),

    // like terms
    rule(x + x,                      x * 2),
    rule(x * c + x,                  x * (c + 1)),
    rule(x * c + x * d,              x * (c + d)),

    // constants outwards
    rule((x + c) + d,                x + (c + d)),
    rule((x + c) + y,                (x + y) + c),
    rule((x * c) * d,                x * (c * d)),
    rule((x * c) * y,                (x * y) * c),
    rule((x + c) * d,                x * d + c * d),
    rule(-(x * c),                   x * -c),
    rule(-x * c,                     x * -c),
    rule(-(x + c),                   -x + -c),
    rule(x.of(sized_ints) * -1,      -x),

    // quotients and remainders
    rule(x / c,                      0,                          0 <= x && x < c),
    rule(x % c,                      x,                          0 <= x && x < c),
    rule((x % c) % c,                x % c),
    rule((x % c) % d,                x % d,                      0 < c && 0 < d && c % d == 0),
    rule((x % y) / y,                0),

    // min and max
    rule(min(x, x),                  x),
    rule(max(x, x),                  x),
    rule(min(x, y),                  x,                          x <= y),
    rule(max(x, y),                  y,                          x <= y),
    rule(min(min(x, c), d),          min(x, min(c, d))),
    rule(max(max(x, c), d),          max(x, max(c, d))),
    rule(min(min(x, y), y),          min(x, y)),
    rule(max(max(x, y), y),          max(x, y)),
    rule(min(x, max(x, y)),          x),
    rule(max(x, min(x, y)),          x),
    rule(max(min(x, c), d),          d,                          c <= d),
    rule(min(max(x, c), d),          d,                          d <= c),

    // and, or, xor, not: -1 is all ones, and true
    rule(x & x,                      x),
    rule(x & 0,                      0),
    rule(x & -1,                     x),
    rule(x | x,                      x),
    rule(x | 0,                      x),
    rule(x | -1,                     -1),
    rule(x ^ x,                      0),
    rule(x ^ 0,                      x),
    rule(x ^ -1,                     ~x),
    rule(~(~x),                      x),
    rule(x & ~x,                     0),
    rule(x | ~x,                     -1),
    rule(x ^ ~x,                     -1),
    rule((x & y) & y,                x & y),
    rule((x | y) | y,                x | y),
    rule((x ^ y) ^ y,                x),
    rule(x & (x | y),                x),
    rule(x | (x & y),                x),
    rule((x & y) & ~y,               0),
    rule((x | y) | ~y,               -1),
    rule(x & (~x | y),               x & y),
    rule(x | (~x & y),               x | y),
    rule((x & c) & d,                x & (c & d)),
    rule((x | c) | d,                x | (c | d)),
    rule((x ^ c) ^ d,                x ^ (c ^ d)),
    rule(~(x & ~y),                  ~x | y),
    rule(~(x | ~y),                  ~x & y),
};
// clang-format on

// A value whose bounds are one number is that number.
UOp known_value(const Match& m) {
  const UOp u = m.root;
  if (!is_integral(u.dtype()) || u.rank() != 0 || !u.bounds().is_point()) return {};
  return m.graph.constant(u.dtype(), u.lo());
}

constexpr Ops unary{'u', {Op::Neg, Op::Not, Op::Cast}};
constexpr Ops binary{'o',
                     {Op::Add, Op::Mul, Op::IDiv, Op::Mod, Op::CDiv, Op::CMod, Op::Max, Op::Min,
                      Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr}};

constexpr Rule known[] = {
    rule(unary(x), known_value),
    rule(binary(x, y), known_value),
    rule(where(a, x, y), known_value),
};

}  // namespace

const RuleList& algebra_list() {
  static constexpr RuleList list{"algebra", Numbers::Wrapping, algebra};
  return list;
}

const RuleList& known_list() {
  static constexpr RuleList list{"known", Numbers::Wrapping, known};
  return list;
}

const RuleSet& algebra_rules() {
  static const RuleSet& set = *new RuleSet("algebra", {known_list(), algebra_list()});
  return set;
}

}  // namespace croze
