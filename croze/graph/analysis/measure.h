// measure.h -- why rewriting ends: every rule makes what it rewrites smaller.
//
// The size of an expression is a pair of numbers, compared in this order:
//
//   padding  how far Invalid has still to move outwards;
//   weight   a polynomial of the weights of the operands, one for each op, such that a constant
//            weighs less than anything, and more the deeper it stands: (x + c) + y outweighs
//            (x + y) + c, and (x + c) * d outweighs x * d + c * d.
//
// Both grow when an operand does, so what makes a part smaller makes the whole smaller.  Index
// arithmetic is kept canonical by its constructors, not by rules, so there a sum weighs what its
// terms do; comparisons of sums get lighter as they come closer to `sum < constant`.
#pragma once

#include <optional>
#include <span>

#include "croze/graph/uop.h"

namespace croze {

// Every leaf that is not a constant weighs this much at least.
inline constexpr int least_leaf_weight = 4;

// The weight of an op over the weights of its operands, which are numbers of any kind: doubles for
// nodes, polynomials for rules.
template <typename N>
N weight_of(Op op, bool on_index, std::span<const N> p) {
  const auto product = [](const N& a, const N& b) { return N(2) * a * b + N(1); };
  const auto sum = [&](const N& a, const N& b) {
    return on_index ? a + b : a + b + N(2) * (a - N(1)) * (b - N(1));
  };
  switch (op) {
    case Op::Cast:
    case Op::Bitcast: return N(4) * p[0];
    case Op::Add: return sum(p[0], p[1]);
    case Op::Mul: return product(p[0], p[1]);
    case Op::Div: return product(p[0], p[1]) + N(1);
    case Op::MulAdd: return sum(product(p[0], p[1]), p[2]) + N(1);
    case Op::Where: return N(3) * p[0] * (p[1] + p[2]);
    case Op::Lt: return N(5) * p[0] + N(10) * p[1];
    case Op::Le: return N(5) * p[0] + N(10) * p[1] + N(1);
    case Op::Eq:
    case Op::Ne: return N(on_index ? 5 : 10) * p[0] + N(10) * p[1];
    case Op::Shl:
    case Op::Shr: return N(3) * p[0] + p[1];
    case Op::Reshape: return N(2) * p[0];
    default: break;
  }
  if (is_movement(op)) return N(3) * p[0];
  N total(0);
  for (const N& operand : p) total = total + operand;
  return is_elementwise(op) || op == Op::Load ? N(2) * total : total + N(1);
}

// The padding of an op over those of its operands.
template <typename N>
N padding_of(Op op, bool pads, std::span<const N> p) {
  if (op == Op::Invalid) return N(1);
  // where(g, x, Invalid): one, and what g and x still hide.
  if (op == Op::Where && pads) return N(1) + p[0] + p[1];
  N total(0);
  for (const N& operand : p) total = total + operand;
  return N(2) * total;
}

// Whether `after` is smaller than `before`, where parts that both have in common count as leaves.
bool is_smaller(UOp after, UOp before);

// The same, found by looking at that many nodes of each and no further: null if that is too few, or
// if both are too large to tell.
std::optional<bool> is_smaller(UOp after, UOp before, std::int64_t most_nodes);

// The same by the few nodes on top, or by more of them where these do not tell; null if those do
// not either.  What builds for debugging ask of each firing.
std::optional<bool> is_seen_smaller(UOp after, UOp before);

}  // namespace croze
