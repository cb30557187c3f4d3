// simplify.cpp -- a kernel in its simplest form.
#include "croze/codegen/simplify.h"

#include <vector>

#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

bool is_gated(UOp u) { return u.is(Op::Index) && u.num_src() == 3; }

bool stays_inside(UOp place) {
  const UOp index = place.src(1);
  return index.lo() >= 0 && index.hi() < place.src(0).least_elements();
}

// `value` as it may be where only its values under `condition` are used: an inner choice may be
// decided, and a load that cannot leave its buffer needs no gate that the condition implies.
UOp used_under(UOp condition, UOp value) {
  Graph& graph = value.graph();
  if (value.is(Op::Where)) {
    const UOp inner = simplify_under(condition, value.src(0));
    if (inner.is_const()) return value.src(inner.const_int() ? 1 : 2);
    return graph.alu(Op::Where, {inner, value.src(1), value.src(2)});
  }
  if (!value.is(Op::Load) || !is_gated(value.src(0)) || !stays_inside(value.src(0))) return value;
  const UOp place = value.src(0);
  if (!simplify_under(condition, place.src(2)).is_const(1)) return value;
  return graph.load(graph.place(place.src(0), place.src(1)));
}

// `u` with its own gate or condition in simplest form, and what it guards simplified under it.
UOp under_its_gate(UOp u) {
  Graph& graph = u.graph();
  if (is_gated(u)) {
    const UOp gate = simplify_gate(u.src(2));
    const UOp index = simplify_under(gate, u.src(1));
    if (gate.is_const(1)) return graph.place(u.src(0), index);
    return graph.place(u.src(0), index, gate);
  }
  if (u.is(Op::Where)) {
    const UOp condition = simplify_gate(u.src(0));
    const UOp yes = used_under(condition, u.src(1));
    return graph.alu(Op::Where, {condition, yes, used_under(logical_not(condition), u.src(2))});
  }
  return u;
}

// From the sources up: a gate may hold loads that have gates themselves, and its terms are put in
// order by what is in them.
UOp simplify_conditions(UOp sink) {
  Graph& graph = sink.graph();
  NodeMap<UOp> simplified(graph);
  std::vector<UOp> src;
  for (UOp u : toposort(sink)) {
    src.clear();
    bool changed = false;
    for (UOp s : u.sources()) {
      src.push_back(simplified.get(s));
      changed = changed || src.back() != s;
    }
    simplified.set(u, under_its_gate(changed ? graph.with_sources(u, src) : u));
  }
  return simplified.get(sink);
}

}  // namespace

// Rules and conditions have normal forms of their own, which need not agree: what counts is that
// the kernel gets smaller, and that ends.
UOp simplify_kernel(UOp sink) {
  sink = rewrite(sink, simplify_rules());
  for (std::size_t size = toposort(sink).size();;) {
    const UOp next = rewrite(simplify_conditions(sink), simplify_rules());
    const std::size_t next_size = toposort(next).size();
    if (next_size >= size) return sink;
    sink = next;
    size = next_size;
  }
}

}  // namespace croze
