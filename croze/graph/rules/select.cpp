// select.cpp -- where, and what is invalid.
//
// Normal form: conditions are not negated, nested selections on one condition are flat, and
// Invalid, which stands for "no value here" (a padded place), moves outwards through arithmetic
// until it meets an Index, where its condition becomes the gate of the load or store.  Each rule
// removes a node or moves a Where with Invalid one op outwards.
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

constexpr Ops unary{'u',
                    {Op::Cast, Op::Bitcast, Op::Neg, Op::Not, Op::Exp, Op::Exp2, Op::Log, Op::Log2,
                     Op::Sin, Op::Cos, Op::Sqrt, Op::Reciprocal, Op::Trunc}};
constexpr Ops binary{'o', {Op::Add, Op::Mul, Op::Div, Op::IDiv, Op::Mod, Op::CDiv,    Op::CMod,
                           Op::Max, Op::Min, Op::Pow, Op::Lt,   Op::Le,  Op::Eq,      Op::Ne,
                           Op::And, Op::Or,  Op::Xor, Op::Shl,  Op::Shr, Op::Threefry}};

constexpr Pattern multiply_add(const Pattern& a, const Pattern& b, const Pattern& c) {
  return {Op::MulAdd, {a, b, c}};
}

// clang-format off
constexpr Rule select[] = {
    rule(where(1, x, y),                               x),
    rule(where(0, x, y),                               y),
    rule(where(a, x, x),                               x),
    rule(where(~a, x, y),                              where(a, y, x)),
    rule(where(a, where(a, x, y), z),                  where(a, x, z)),
    rule(where(a, x, where(a, y, z)),                  where(a, x, z)),
    rule(where(a, where(g, x, y), y),                  where(a & g, x, y)),
    rule(where(a, x, where(g, x, y)),                  where(a | g, x, y)),

    // of booleans
    rule(where(a, g, 0),                               a & g),
    rule(where(a, 1, g),                               a | g),
    rule(where(a, 0, g),                               ~a & g),
    rule(where(a, g, 1),                               ~a | g),

    // a load is zero where its gate is false
    rule(load(index(b, x, 0)),                         0),
    rule(where(g, n(load(index(b, x, g))), 0),         n),
    rule(where(g, load(index(b, x, h)), 0),            load(index(b, x, g & h))),
};

constexpr Rule invalids[] = {
    rule(where(a, invalid, invalid),                   invalid),
    rule(where(a, invalid, x),                         where(~a, x, invalid)),
    rule(where(1, x, invalid),                         x),
    rule(where(0, x, invalid),                         invalid),
    rule(where(invalid, x, y),                         invalid),
    rule(where(invalid, x, invalid),                   invalid),
    rule(where(~a, where(a, x, y), invalid),           where(~a, y, invalid)),
    rule(where(a, where(a, x, y), invalid),            where(a, x, invalid)),
    rule(where(g, where(h, x, invalid), invalid),      where(g & h, x, invalid)),
    rule(where(where(g, h, invalid), x, y),            where(g, where(h, x, y), invalid)),
    rule(where(where(g, h, invalid), x, invalid),      where(g & h, x, invalid)),
    rule(where(a, where(g, x, invalid), y),            where(where(a, g, 1), where(a, x, y), invalid)),
    rule(where(a, x, where(g, y, invalid)),            where(where(a, 1, g), where(a, x, y), invalid)),

    // outwards through arithmetic
    rule(unary(invalid),                               invalid),
    rule(binary(invalid, x),                           invalid),
    rule(binary(x, invalid),                           invalid),
    rule(binary(invalid, invalid),                     invalid),
    rule(unary(where(g, x, invalid)),                  where(g, unary(x), invalid)),
    rule(binary(where(g, x, invalid), where(h, y, invalid)), where(g & h, binary(x, y), invalid)),
    rule(binary(where(g, x, invalid), y),              where(g, binary(x, y), invalid)),
    rule(binary(y, where(g, x, invalid)),              where(g, binary(y, x), invalid)),
    rule(multiply_add(invalid, y, z),                  invalid),
    rule(multiply_add(y, invalid, z),                  invalid),
    rule(multiply_add(y, z, invalid),                  invalid),
    rule(multiply_add(where(g, x, invalid), y, z),     where(g, multiply_add(x, y, z), invalid)),
    rule(multiply_add(y, where(g, x, invalid), z),     where(g, multiply_add(y, x, z), invalid)),
    rule(multiply_add(y, z, where(g, x, invalid)),     where(g, multiply_add(y, z, x), invalid)),

    // into the gate of a place
    rule(index(b, where(g, x, invalid)),               index(b, x, g)),
    rule(index(b, where(g, x, invalid), h),            index(b, x, g & h)),
    rule(index(b, x, where(g, h, invalid)),            index(b, x, g & h)),
    rule(index(b, x, 1),                               index(b, x)),
};

constexpr Rule drop_invalid[] = {
    rule(where(g, x, invalid),                         where(g, x, 0)),
    rule(Pattern(Op::Invalid, {}),                     0),
};
// clang-format on

}  // namespace

const RuleList& select_list() {
  static constexpr RuleList list{"select", Numbers::All, select};
  return list;
}

const RuleList& invalid_list() {
  static constexpr RuleList list{"invalid", Numbers::All, invalids};
  return list;
}

const RuleList& drop_invalid_list() {
  static constexpr RuleList list{"drop invalid", Numbers::All, drop_invalid};
  return list;
}

const RuleSet& select_rules() {
  static const RuleSet& set = *new RuleSet("select", {invalid_list(), select_list()});
  return set;
}

const RuleSet& drop_invalid_rules() {
  static const RuleSet& set = *new RuleSet("drop invalid", {drop_invalid_list()});
  return set;
}

}  // namespace croze
