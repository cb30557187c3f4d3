// float.cpp -- floats, true for every IEEE value: NaN, infinities and both zeros included.
//
// So x + 0 is not x (-0 + 0 is +0), x * 0 is not 0 and x - x is not 0.  Each rule removes a node or
// pushes a negation into a constant.
#include <cmath>
#include <limits>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

constexpr Types has_infinity =
    types_of({DType::Float8E5M2, DType::Float16, DType::BFloat16, DType::Float32, DType::Float64});
constexpr double infinity = std::numeric_limits<double>::infinity();

// x / k is x * (1/k) if k is a power of two and 1/k is a normal number of the type: both round the
// same exact value.
UOp divide_by_power_of_two(const Match& m) {
  const double divisor = m[k].const_double();
  int exponent;
  if (!std::isfinite(divisor) || std::fabs(std::frexp(divisor, &exponent)) != 0.5) return {};
  const DType t = m.root.dtype();
  const UOp factor = m.graph.constant(t, 1 / divisor);
  const UOp back = m.graph.constant(t, 1 / factor.const_double());
  const bool exact = factor.const_double() == 1 / divisor && back == m[k];
  const double least = t == DType::Float64 ? 0x1p-1022 : t == DType::Float16 ? 0x1p-14 : 0x1p-126;
  if (!exact || is_float8(t) || std::fabs(factor.const_double()) < least) return {};
  return m.graph.alu(Op::Mul, {m[x], factor});
}

// clang-format off
constexpr Rule float_algebra[] = {
    rule(x * 1,                                 x),
    rule(x + -0.0,                              x),
    rule((x + 0) + 0,                           x + 0),
    rule(divide(x, 1),                          x),
    rule(divide(x, -1),                         -x),
    rule(divide(x, k),                          divide_by_power_of_two),
    rule(x * -1,                                -x),
    rule(-(-x),                                 x),
    rule(-x * -y,                               x * y),
    rule(-x * k,                                x * -k),
    rule(-(x * k),                              x * -k),
    rule(divide(-x, -y),                        divide(x, y)),
    rule(divide(-x, k),                         divide(x, -k)),
    rule(min(x, x),                             x),
    rule(max(x, x),                             x),
    rule(max(x.of(has_infinity), -infinity),    x),
    rule(min(x.of(has_infinity), infinity),     x),
    rule(max(max(x, y), y),                     max(x, y)),
    rule(min(min(x, y), y),                     min(x, y)),
    rule(max(max(x, k), l),                     max(x, max(k, l))),
    rule(min(min(x, k), l),                     min(x, min(k, l))),
    rule(x < x,                                 0),
    rule(Pattern(Op::Trunc, {n({Op::Trunc, {x}})}), n),
    rule({Op::MulAdd, {x, 1, y}},               x + y),
    rule({Op::MulAdd, {x, y, -0.0}},            x * y),
};
// clang-format on

}  // namespace

const RuleList& float_list() {
  static constexpr RuleList list{"float", Numbers::Ieee, float_algebra};
  return list;
}

const RuleSet& float_rules() {
  static const RuleSet& set = *new RuleSet("float", {float_list()});
  return set;
}

}  // namespace croze
