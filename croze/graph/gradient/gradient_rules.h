// gradient_rules.h -- internal to gradient/: the local derivative of each op.
#pragma once

#include <array>
#include <span>

#include "croze/base/small_vector.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rule.h"
#include "croze/graph/uop.h"

namespace croze {

// An elementwise derivative as data: for the result r = op(x, y, ..) with gradient g, what flows
// back to each operand.  `gradient(x * y, g * y, g * x)`.
struct GradientRule {
  static constexpr int max_operands = 3;

  Pattern pattern;
  std::array<Pattern, max_operands> partials;  // `invalid` where none flows
  const char* file;
  int line;

  constexpr Op op() const { return pattern.tokens[0].op(); }
};

// The table, for listings and tests.
std::span<const GradientRule> gradient_rules();

// One entry per source of a node; null where no gradient flows.
using Partials = SmallVector<UOp, 4>;

// What flows back to each source of u when g flows into u.  Only sources that are `wanted` need an
// answer, and what flows past a source to one below it may be given to that, unless the gradient by
// the source is asked for: it is one of the targets.  A partial of an elementwise op may have the
// broadcast shape; fit_gradient cures that. Throws InternalError for an op of no tensor graph.
Partials partials_of(UOp u, UOp g, std::span<const bool> wanted, const NodeSet& targets);

// What flows to a node below all those that a form is made of, none of which is a target.
struct FormPartial {
  UOp argument;  // null: u is the top of no form that is known
  UOp partial;
};
FormPartial through_form(UOp u, UOp g, const NodeSet& targets);

// Whether a gradient can flow through the node at all.
bool passes_gradient(UOp u);
// Whether partials_of() says how.
inline bool has_partials(UOp u) { return passes_gradient(u) && !u.is(Op::WithGradient); }

// g summed or repeated to the shape of x.
UOp fit_gradient(UOp g, UOp x);

// `value` in every element of a tensor of this dtype and shape.
UOp filled_with(UOp like, double value);

}  // namespace croze
