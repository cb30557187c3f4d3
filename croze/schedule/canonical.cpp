// canonical.cpp -- a tensor graph made independent of which buffers it stands on.
#include <algorithm>
#include <vector>

#include "croze/graph/node_map.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/serialize.h"
#include "croze/schedule/schedule.h"
#include "croze/schedule/sums/products.h"

namespace croze {
namespace {

// After(view(x), stores) is view(After(x, stores)): below, an After stands directly on its buffer.
UOp make_after(Graph& graph, std::span<const UOp> src) {
  std::vector<UOp> views;
  UOp base = src[0];
  while (is_movement(base.op())) {
    views.push_back(base);
    base = base.src(0);
  }
  UOp result = graph.after(base, src.subspan(1));
  for (; !views.empty(); views.pop_back()) {
    result = graph.make(views.back().op(), result.dtype(), {result}, views.back().arg());
  }
  return result;
}

// Names a call by a number of its own.
bool is_given(UOp u) { return u.is(Op::WithGradient); }

// What the roots are computed from, sources first: of a WithGradient only the value.
std::vector<UOp> computed_from(std::span<const UOp> roots) {
  std::vector<UOp> order = toposort(roots);
  if (std::ranges::none_of(order, is_given)) return order;
  NodeSet needed;
  for (UOp root : roots) needed.insert(root.node());
  for (std::size_t i = order.size(); i-- > 0;) {
    if (!needed.contains(order[i].node())) continue;
    const int count = is_given(order[i]) ? 1 : order[i].num_src();
    for (int k = 0; k < count; k++) needed.insert(order[i].src(k).node());
  }
  std::erase_if(order, [&](UOp u) { return !needed.contains(u.node()); });
  return order;
}

// The value of a WithGradient.  If it is a view of memory it becomes a copy: what has another
// gradient is another tensor.
UOp value_alone(UOp value) {
  UOp below = value;
  while (is_movement(below.op()) || below.is(Op::Detach)) below = below.src(0);
  if (!below.is(Op::Buffer) && !below.is(Op::After)) return value;
  return value.graph().make(Op::Contiguous, value.dtype(), {value});
}

}  // namespace

CanonicalGraph canonical_graph(std::span<const UOp> roots) {
  CanonicalGraph result{std::make_unique<Graph>(), {}, {}, {}, {}};
  Graph& graph = *result.graph;
  NodeMap<UOp> copies(roots.empty() ? graph : roots[0].graph());
  std::vector<UOp> src;
  const std::vector<UOp> order = computed_from(roots);
  const SumsOfProducts sums(order);
  for (UOp u : order) {
    if (u.is(Op::Buffer)) {
      const auto number = static_cast<std::int64_t>(result.inputs.size());
      result.inputs.push_back(u);
      result.buffers.push_back(
          graph.buffer(u.dtype(), number, u.buffer_elements(), u.buffer_device()));
      copies.set(u, result.buffers.back());
      continue;
    }
    if (is_given(u)) {
      copies.set(u, value_alone(copies.get(u.src(0))));
      continue;
    }
    src.clear();
    for (UOp s : u.sources()) src.push_back(copies.get(s));
    if (const UOp stacked = sums.stacked(u, copies)) {
      copies.set(u, stacked);
      continue;
    }
    const UOp copy =
        u.is(Op::After) ? make_after(graph, src) : graph.make(u.op(), u.dtype(), src, u.arg());
    copies.set(u, copy);
  }
  for (UOp root : roots) result.roots.push_back(copies.get(root));
  // Graphs with one key have one copy.
  const bool names_calls = std::ranges::any_of(order, is_given);
  result.key = names_calls ? serialize(result.roots) : canonical_key(roots).key;
  return result;
}

CanonicalKey canonical_key(std::span<const UOp> roots) {
  CanonicalKey result;
  result.key = serialize_over(roots, result.inputs);
  return result;
}

}  // namespace croze
