// gradient_rules.cpp -- the derivatives of the elementwise ops, as a table.
#include "croze/graph/gradient/gradient_rules.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/gradient/masked.h"
#include "croze/graph/gradient/structure.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

// The operands, the condition of a where, the result, and the gradient that flows into it.
constexpr Any x{'x'}, y{'y'}, z{'z'}, g{'g'}, r{'r'};
constexpr Bool a{'a'};
constexpr const Pattern& none = invalid;

constexpr GradientRule gradient(const Pattern& pattern, const Pattern& first,
                                const Pattern& second = none, const Pattern& third = none,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const std::uint32_t known = pattern.names() | Pattern(g).names() | Pattern(r).names();
  if ((first.names() | second.names() | third.names()) & ~known) {
    throw "a partial uses a name the pattern does not capture";
  }
  return {pattern, {first, second, third}, file, line};
}

constexpr Pattern call(Op op, const Pattern& p) { return {op, {p}}; }
constexpr Pattern power(const Pattern& p, const Pattern& q) { return {Op::Pow, {p, q}}; }

using std::numbers::ln2;

// Where max and min have equal operands, each gets half.  A power's gradient by its exponent is 0
// at base 0, and by its base 0 at exponent 0, where the formulas would give NaN.
// clang-format off
constexpr GradientRule table[] = {
    gradient(-x,                        -g),
    gradient(call(Op::Exp, x),          g * r),
    gradient(call(Op::Exp2, x),         g * r * ln2),
    gradient(call(Op::Log, x),          divide(g, x)),
    gradient(call(Op::Log2, x),         divide(g * (1 / ln2), x)),
    gradient(call(Op::Sin, x),          g * call(Op::Cos, x)),
    gradient(call(Op::Cos, x),          -(g * call(Op::Sin, x))),
    gradient(call(Op::Sqrt, x),         divide(g, r * 2)),
    gradient(call(Op::Reciprocal, x),   -(g * r * r)),

    gradient(x + y,                     g,                                       g),
    gradient(x * y,                     g * y,                                   g * x),
    gradient(divide(x, y),              divide(g, y),                            -divide(g * r, y)),
    gradient(max(x, y),                 where(y < x, g, where(x == y, g * 0.5, 0)),
                                        where(x < y, g, where(x == y, g * 0.5, 0))),
    gradient(min(x, y),                 where(x < y, g, where(x == y, g * 0.5, 0)),
                                        where(y < x, g, where(x == y, g * 0.5, 0))),
    gradient(power(x, y),               where(y == 0, 0, g * y * power(x, y - 1)),
                                        where(x == 0, 0, g * r * call(Op::Log, where(x == 0, 1, x)))),

    gradient(where(a, x, y),            none,          where(a, g, 0),           where(a, 0, g)),
    gradient(Pattern(Op::MulAdd, {x, y, z}), g * y,    g * x,                    g),
};
// clang-format on

const GradientRule* rule_of(Op op) {
  const auto* rule = std::ranges::find(table, op, &GradientRule::op);
  return rule == std::end(table) ? nullptr : rule;
}

Partials from_rule(const GradientRule& rule, UOp u, UOp upstream, std::span<const bool> wanted) {
  Match::Captures captures{};
  for (int i = 0; i < u.num_src(); i++) {
    captures.nodes[rule.pattern.tokens[static_cast<std::size_t>(i) + 1].id] = u.src(i).node();
  }
  captures.nodes[g.slot()] = upstream.node();
  captures.nodes[r.slot()] = u.node();
  const Match match(u.graph(), u, captures, nullptr);
  Partials result;
  for (int i = 0; i < u.num_src(); i++) {
    const Pattern& partial = rule.partials[static_cast<std::size_t>(i)];
    const bool flows = wanted[static_cast<std::size_t>(i)] && partial.tokens[0].op() != Op::Invalid;
    result.push_back(flows ? match.build(partial) : UOp());
  }
  return result;
}

// Some forms are differentiated whole, unless a part of them is a target: of the parts come
// selections that sum to one.
//
// where(a, -x, x) is x but for the sign.
bool is_magnitude(UOp u) {
  return u.is(Op::Where) && u.src(1).is(Op::Neg) && u.src(1).src(0) == u.src(2);
}

UOp through_magnitude(UOp u, UOp upstream, const NodeSet& targets) {
  if (!is_magnitude(u) || targets.contains(u.src(1).node())) return {};
  return where(u.src(0), -upstream, upstream);
}

// where(a, x, 1) / (x + 1), of which sigmoids are made, changes with x by 1 / (x + 1)^2 or by minus
// that; given to x + 1.
bool is_sigmoid(UOp u) {
  if (!u.is(Op::Div) || !u.src(0).is(Op::Where) || !u.src(1).is(Op::Add)) return false;
  const UOp chosen = u.src(0), sum = u.src(1);
  return chosen.src(1) == sum.src(0) && chosen.src(2).is_const(1) && sum.src(1).is_const(1);
}

UOp through_sigmoid(UOp u, UOp upstream, const NodeSet& targets) {
  if (!is_sigmoid(u)) return {};
  const UOp chosen = u.src(0), sum = u.src(1);
  if (targets.contains(chosen.node()) || targets.contains(sum.node())) return {};
  return where(chosen.src(0), upstream, -upstream) / (sum * sum);
}

// The number that a constant is filled with; null for all else.
UOp filling_of(UOp u) {
  while (u.is(Op::Expand) || u.is(Op::Reshape)) u = u.src(0);
  return u.is_const() ? u : UOp();
}

// A polynomial in x by Horner's rule, a MulAdd, changes with x by one that is a term shorter, where
// its steps differentiated one by one would make three operations each.
FormPartial through_polynomial(UOp u, UOp upstream, const NodeSet& targets) {
  const UOp argument = u.src(1);
  std::vector<double> coefficients;  // lowest power first
  UOp sum = u;
  for (; sum.is(Op::MulAdd) && sum.src(1) == argument; sum = sum.src(0)) {
    const UOp number = filling_of(sum.src(2));
    if (!number || (sum != u && targets.contains(sum.node()))) return {};
    coefficients.push_back(number.const_double());
  }
  const UOp highest = filling_of(sum);
  if (!highest) return {};
  Graph& graph = u.graph();
  double power = static_cast<double>(coefficients.size());
  UOp slope = graph.constant(u.dtype(), highest.const_double() * power);
  for (; coefficients.size() > 1; coefficients.pop_back()) {
    power--;
    slope = graph.alu(Op::MulAdd,
                      {slope, argument, graph.constant(u.dtype(), coefficients.back() * power)});
  }
  return {argument, upstream * slope};
}

}  // namespace

// where(a, e, 1) / (e + 1) with e = exp(-where(a, -z, z)) is the sigmoid of z, which changes by
// itself times what it lacks to 1: a kernel that has the sigmoid needs nothing else.
FormPartial through_form(UOp u, UOp upstream, const NodeSet& targets) {
  if (u.is(Op::MulAdd)) return through_polynomial(u, upstream, targets);
  if (!is_sigmoid(u)) return {};
  const UOp chosen = u.src(0), sum = u.src(1), e = chosen.src(1);
  if (!e.is(Op::Exp) || !e.src(0).is(Op::Neg)) return {};
  const UOp magnitude = e.src(0).src(0);
  if (!is_magnitude(magnitude) || magnitude.src(0) != chosen.src(0)) return {};
  for (UOp part : {chosen, sum, e, e.src(0), magnitude, magnitude.src(1)}) {
    if (targets.contains(part.node())) return {};
  }
  return {magnitude.src(2), upstream * (u * (chosen.src(2) - u))};
}

std::span<const GradientRule> gradient_rules() { return table; }

bool passes_gradient(UOp u) {
  if (u.is(Op::Store)) return true;
  if (!is_float(u.dtype()) || u.num_src() == 0) return false;
  return !u.is(Op::Detach) && !u.is(Op::Trunc) && !u.is(Op::Bitcast);
}

Partials partials_of(UOp u, UOp upstream, std::span<const bool> wanted, const NodeSet& targets) {
  if (u.is(Op::Cast)) return {u.graph().cast(upstream, u.src(0).dtype())};
  if (!is_elementwise(u.op())) return structural_partials(u, upstream, wanted);
  if (const UOp by_x = through_magnitude(u, upstream, targets)) return {UOp(), UOp(), by_x};
  if (const UOp by_sum = through_sigmoid(u, upstream, targets)) return {UOp(), by_sum};
  if (Partials masked = through_masked_product(u, upstream); !masked.empty()) return masked;
  const GradientRule* rule = rule_of(u.op());
  ensure(rule != nullptr, "{} has no derivative", info(u.op()).name);
  return from_rule(*rule, u, upstream, wanted);
}

}  // namespace croze
