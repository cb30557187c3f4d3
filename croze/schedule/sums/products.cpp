// products.cpp -- finding sums of many products, and stacking their factors.
#include "croze/schedule/sums/products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "croze/graph/graph.h"

namespace croze {
namespace {

using Sizes = SmallVector<std::int64_t, 8>;

// From which on products are stacked, and of a stack: a kernel reads so many tensors.
constexpr std::size_t least_products = 9, most_stacked = 24;

// Where a factor is computed: below views that repeat it or put its axes elsewhere.
UOp below_views(UOp u) {
  while (u.is(Op::Expand) || u.is(Op::Reshape) || u.is(Op::Permute)) u = u.src(0);
  return u;
}

// Whether it is larger than both of its factors.
bool is_outer_product(UOp u) {
  return u.is(Op::Mul) && below_views(u.src(0)).elements() < u.elements() &&
         below_views(u.src(1)).elements() < u.elements();
}

// The terms of a sum, first to last; none if one is no outer product.
std::vector<UOp> products_of(UOp sum, const NodeMap<int>& uses) {
  std::vector<UOp> terms, pending{sum};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::Add) && (u == sum || uses.get(u) == 1)) {
      pending.push_back(u.src(1));
      pending.push_back(u.src(0));
    } else if (is_outer_product(u)) {
      terms.push_back(u);
    } else {
      return {};
    }
  }
  return terms;
}

// A factor of a product, not repeated along its axes.
UOp unrepeated(UOp factor) { return factor.is(Op::Expand) ? factor.src(0) : factor; }

// The factors of products, which come in any order: first those like the first one of the first.
using Factors = std::array<std::vector<UOp>, 2>;

Factors factors_of(std::span<const UOp> products) {
  Factors result;
  for (UOp p : products) {
    UOp a = unrepeated(p.src(0)), b = unrepeated(p.src(1));
    const auto is_like = [&](UOp x, std::size_t side) {
      return result[side].empty() || std::ranges::equal(x.shape(), result[side][0].shape());
    };
    if (!is_like(a, 0) && !is_like(b, 1)) std::swap(a, b);
    result[0].push_back(a);
    result[1].push_back(b);
  }
  return result;
}

Sizes behind(std::int64_t first, std::span<const std::int64_t> others) {
  Sizes result{first};
  result.append(others.begin(), others.end());
  return result;
}

// The largest size along each of the axes; numbers have none.
Sizes largest_of(std::span<const UOp> parts, std::int64_t rank) {
  Sizes shape(rank, 1);
  for (UOp p : parts) {
    for (std::int64_t axis = 0; axis < p.rank(); axis++) {
      shape[axis] = std::max(shape[axis], p.shape()[static_cast<std::size_t>(axis)]);
    }
  }
  return shape;
}

// One above the other, along a new axis: tensors of which each is repeated to the largest of them.
UOp stack_of(std::span<const UOp> parts, std::int64_t rank, const NodeMap<UOp>& copies) {
  const Sizes shape = largest_of(parts, rank);
  UOp stack;
  for (std::size_t i = 0; i < parts.size(); i++) {
    UOp x = copies.get(parts[i]);
    Graph& graph = x.graph();
    if (x.rank() < rank) x = graph.movement(Op::Reshape, x, Sizes(rank, 1));
    Sizes amounts(2 * (rank + 1), 0);
    amounts[0] = static_cast<std::int64_t>(i);
    amounts[1] = static_cast<std::int64_t>(parts.size() - i - 1);
    const UOp whole = graph.movement(Op::Expand, x, shape);
    const UOp row = graph.movement(Op::Reshape, whole, behind(1, shape));
    const UOp placed = graph.movement(Op::Pad, row, amounts);
    stack = stack ? stack + placed : placed;
  }
  return stack.graph().make(Op::Contiguous, stack.dtype(), {stack});
}

// The sum over stacks of products, over the axes of `reduce` as well.
UOp product_of_stacks(UOp reduce, std::span<const UOp> products, const NodeMap<UOp>& copies) {
  const Factors factors = factors_of(products);
  const std::int64_t rank = products[0].rank();
  const UOp a = stack_of(factors[0], rank, copies), b = stack_of(factors[1], rank, copies);
  Graph& graph = a.graph();
  const Sizes shape = behind(a.shape()[0], products[0].shape());
  const UOp product = graph.movement(Op::Expand, a, shape) * graph.movement(Op::Expand, b, shape);
  Sizes axes{0};
  for (std::int64_t axis : reduce.arg().as_ints().subspan(1)) axes.push_back(axis + 1);
  return graph.movement(Op::Reshape, graph.reduce_axes(Op::Add, product, axes), reduce.shape());
}

}  // namespace

SumsOfProducts::SumsOfProducts(std::span<const UOp> order) {
  if (order.empty()) return;
  NodeMap<int> uses(order[0].graph());
  for (UOp u : order) {
    for (UOp s : u.sources()) uses.set(s, uses.get(s) + 1);
  }
  for (UOp u : order) {
    if (!u.is(Op::Reduce) || u.reduce_op() != Op::Add || u.src(0).has_open_shape()) continue;
    if (uses.get(u.src(0)) > 1) continue;
    std::vector<UOp> products = products_of(u.src(0), uses);
    if (products.size() >= least_products) products_.emplace(u.node(), std::move(products));
  }
}

UOp SumsOfProducts::stacked(UOp reduce, const NodeMap<UOp>& copies) const {
  const auto found = products_.find(reduce.node());
  if (found == products_.end()) return UOp();
  UOp whole;
  const std::size_t stacks = (found->second.size() + most_stacked - 1) / most_stacked;
  const std::size_t products = (found->second.size() + stacks - 1) / stacks;
  for (std::span<const UOp> rest = found->second; !rest.empty();) {
    const auto count = std::min(rest.size(), products);
    const UOp sum = product_of_stacks(reduce, rest.first(count), copies);
    whole = whole ? whole + sum : sum;
    rest = rest.subspan(count);
  }
  return whole;
}

}  // namespace croze
