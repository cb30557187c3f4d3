// canonical.cpp -- a tensor graph made independent of which buffers it stands on.
#include <unordered_map>

#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/serialize.h"
#include "croze/schedule/schedule.h"

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

}  // namespace

CanonicalGraph canonical_graph(std::span<const UOp> roots) {
  CanonicalGraph result{std::make_unique<Graph>(), {}, {}, {}};
  Graph& graph = *result.graph;
  std::unordered_map<const Node*, UOp> copy;
  std::vector<UOp> src;
  for (UOp u : toposort(roots)) {
    if (u.is(Op::Buffer)) {
      const auto number = static_cast<std::int64_t>(result.inputs.size());
      result.inputs.push_back(u);
      copy[u.node()] = graph.buffer(u.dtype(), number, u.buffer_elements(), u.buffer_device());
      continue;
    }
    src.clear();
    for (UOp s : u.sources()) src.push_back(copy.at(s.node()));
    copy[u.node()] =
        u.is(Op::After) ? make_after(graph, src) : graph.make(u.op(), u.dtype(), src, u.arg());
  }
  for (UOp root : roots) result.roots.push_back(copy.at(root.node()));
  result.key = serialize(result.roots);
  return result;
}

}  // namespace croze
