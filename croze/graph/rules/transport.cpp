// transport.cpp -- the laws, and their use on nodes.
//
// Special values: a law must give, bit for bit, the infinities and NaNs that two passes give.
// * A maximum that is infinite is no centre to subtract: inf - inf is NaN, and a row may begin with
//   -inf and go on with numbers.  So exponentials are kept under 0 then; who wanted the infinite
//   centre applies it at the end.  A move is by a factor of at most 1: it can only be more where a
//   centre is 0 for want of a finite one, and there what is kept is 0, infinite or NaN.
// * A NaN that is an extreme equals nothing, itself included, and stays: what was kept is right.
#include "croze/graph/rules/transport.h"

#include <limits>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"

namespace croze {
namespace {

using namespace captures;

// clang-format off
constexpr Transport laws[] = {
    {"exponential", Centre::FiniteGreatest,
     exp(x - y),                          w * exp(min(y - z, 0)),                       0},
    // A term without the extreme is the identity.
    {"equality", Centre::Extreme,
     where(x == y, w, k),                 where((y == z) | (y != y), w, k),             0},
    {"square", Centre::Mean,
     (x - y) * (x - y),                   w + n * ((y - z) * (y - z)),                  (x - y) * ((y - z) * 2)},
};
// clang-format on

}  // namespace

std::span<const Transport> transports() { return laws; }

UOp centre_of(const Transport& law, UOp leader, UOp terms) {
  Graph& graph = leader.graph();
  switch (law.centre) {
    case Centre::Extreme: return leader;
    case Centre::FiniteGreatest: {
      const UOp inf = graph.constant(leader.dtype(), std::numeric_limits<double>::infinity());
      return where(less(max(leader, -leader), inf), leader, constant_like(leader, 0));
    }
    case Centre::Mean: return leader / cast(terms, leader.dtype());
  }
  return {};
}

UOp moved(const Transport& law, Op op, UOp value, UOp from, UOp to, UOp terms) {
  Graph& graph = value.graph();
  Match::Captures captures{};
  captures.nodes[w.slot()] = value.node();
  captures.nodes[y.slot()] = from.node();
  captures.nodes[z.slot()] = to.node();
  captures.nodes[n.slot()] = cast(terms, value.dtype()).node();
  captures.nodes[k.slot()] =
      graph.constant_bits(value.dtype(), identity_of(op, value.dtype())).node();
  return Match(graph, value, captures, nullptr).build(law.moved);
}

}  // namespace croze
