// fast_math.cpp -- floats taken for real numbers: no rounding, no NaN, no infinity, no -0, no
// division by zero.  Off unless CROZE_FAST_MATH asks for it.  Each rule removes a node, moves a
// constant outwards, or makes a division a product.
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

// clang-format off
constexpr Rule fast_math[] = {
    rule(x + 0,                      x),
    rule(x * 0,                      0),
    rule(x + -x,                     0),
    rule((x + y) + -x,               y),
    rule((x + -y) + y,               x),
    rule(divide(x, x),               1),
    rule(divide(x * y, y),           x),
    rule(divide(x, y) * y,           x),

    // like terms
    rule(x + x,                      x * 2),
    rule(x * k + x,                  x * (k + 1)),
    rule(x * k + x * l,              x * (k + l)),

    // constants outwards
    rule((x + k) + l,                x + (k + l)),
    rule((x + k) + y,                (x + y) + k),
    rule((x * k) * l,                x * (k * l)),
    rule((x * k) * y,                (x * y) * k),
    rule(-(x + k),                   -x + -k),
    rule(divide(x, k),               x * divide(1, k)),

    rule(x == x,                     1),
    rule(x <= x,                     1),
    rule(x != x,                     0),
};
// clang-format on

}  // namespace

const RuleList& fast_math_list() {
  static constexpr RuleList list{"fast math", Numbers::Real, fast_math};
  return list;
}

const RuleSet& fast_math_rules() {
  static const RuleSet& set =
      *new RuleSet("fast math", {invalid_list(), known_list(), select_list(), algebra_list(),
                                 compare_list(), index_compare_list(), logic_list(), cast_list(),
                                 integer_cast_list(), fast_math_list(), float_list(), bits_list()});
  return set;
}

}  // namespace croze
