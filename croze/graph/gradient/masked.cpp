// masked.cpp -- gradients that a mask of positions holds back.
#include "croze/graph/gradient/masked.h"

#include <vector>

#include "croze/base/flat_map.h"
#include "croze/graph/gradient/structure.h"
#include "croze/graph/graph.h"

namespace croze {
namespace {

// A mask that is made of more nodes than this is not looked through.
constexpr std::size_t largest_mask = 64;

// Whether it follows from the positions of elements alone.
bool is_mask_of_positions(UOp mask) {
  std::vector<UOp> nodes{mask};
  FlatSet<const Node*> seen;
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const UOp u = nodes[i];
    const bool is_position = u.is(Op::Iota) || u.is(Op::Const) || u.is(Op::Variable);
    const bool passes =
        is_movement(u.op()) || u.is(Op::Cast) || (is_elementwise(u.op()) && !u.is(Op::Threefry));
    if (!is_position && !passes) return false;
    for (UOp s : u.sources()) {
      if (seen.insert(s.node())) nodes.push_back(s);
    }
    if (nodes.size() > largest_mask) return false;
  }
  return true;
}

struct Masked {
  UOp mask, value;  // null: no mask
};

// Views of where(mask, value, 0) as one of both.
Masked behind_mask(UOp g) {
  std::vector<UOp> views;
  for (; is_movement(g.op()); g = g.src(0)) views.push_back(g);
  if (!g.is(Op::Where) || !g.src(2).is_const(0) || !is_mask_of_positions(g.src(0))) return {};
  Masked result{expanded(g.src(0), g.shape()), expanded(g.src(1), g.shape())};
  for (; !views.empty(); views.pop_back()) {
    const UOp view = views.back();
    result.mask = moved(view.op(), result.mask, view.arg().as_ints());
    result.value = moved(view.op(), result.value, view.arg().as_ints());
  }
  return result;
}

}  // namespace

Partials through_masked_product(UOp u, UOp g) {
  if (!u.is(Op::Mul)) return {};
  const Masked masked = behind_mask(g);
  if (!masked.mask) return {};
  const auto times = [&](UOp factor) {
    const UOp flow = masked.value * factor;
    return where(masked.mask, flow, constant_like(flow, 0));
  };
  return {times(u.src(1)), times(u.src(0))};
}

}  // namespace croze
