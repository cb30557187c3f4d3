// meaning.cpp -- values and where they are defined, node by node, sources first.
#include "croze/prove/meaning.h"

#include <vector>

#include "croze/graph/graph.h"

namespace croze {

UOp Meanings::both(UOp a, UOp b) {
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  return graph_.make(Op::And, DType::Bool, {a, b});
}

Meaning Meanings::of(UOp u) {
  std::vector<UOp> pending{u};
  while (!pending.empty()) {
    const UOp next = pending.back();
    if (known_.get(next).value) {
      pending.pop_back();
      continue;
    }
    const std::size_t before = pending.size();
    for (UOp s : next.sources()) {
      if (!known_.get(s).value) pending.push_back(s);
    }
    if (pending.size() != before) continue;
    pending.pop_back();
    known_.set(next, derive(next));
  }
  return known_.get(u);
}

Meaning Meanings::derive(UOp u) {
  const UOp yes = graph_.boolean(true);
  switch (u.op()) {
    case Op::Invalid: return {graph_.constant(u.dtype(), std::int64_t{0}), graph_.boolean(false)};
    case Op::Index: return place(u);
    case Op::Load: return load(u);
    case Op::Where: return select(u);
    default: break;
  }
  if (!is_elementwise(u.op()) || u.num_src() == 0) return {u, yes};  // a leaf, whatever is below
  std::vector<UOp> values;
  UOp defined = yes;
  for (UOp s : u.sources()) {
    const Meaning m = known_.get(s);
    values.push_back(m.value);
    defined = both(defined, m.defined);
  }
  return {graph_.make(u.op(), u.dtype(), values, u.arg()), defined};
}

Meaning Meanings::place(UOp u) {
  const Meaning index = known_.get(u.src(1));
  UOp on = index.defined;
  if (u.num_src() > 2) {
    const Meaning gate = known_.get(u.src(2));
    on = both(on, both(gate.defined, gate.value));
  }
  return {index.value, on};
}

// What is loaded from a place that is on is anything, but the same for the same buffer and index.
Meaning Meanings::load(UOp u) {
  const UOp from = u.src(0);
  const UOp yes = graph_.boolean(true);
  if (!from.is(Op::Index)) return {u, yes};
  const Meaning where = known_.get(from);
  const UOp element = graph_.load(graph_.place(from.src(0), where.value));
  if (where.defined.is_const(1)) return {element, yes};
  const UOp zero = graph_.constant(u.dtype(), std::int64_t{0});
  return {graph_.make(Op::Where, u.dtype(), {where.defined, element, zero}), yes};
}

Meaning Meanings::select(UOp u) {
  const Meaning c = known_.get(u.src(0)), x = known_.get(u.src(1)), y = known_.get(u.src(2));
  // An arm that never has a value may have that of the other.
  UOp value = graph_.make(Op::Where, u.dtype(), {c.value, x.value, y.value});
  if (x.defined.is_const(0)) value = y.value;
  if (y.defined.is_const(0)) value = x.value;
  if (x.defined == y.defined) return {value, both(c.defined, x.defined)};
  const UOp chosen = graph_.make(Op::Where, DType::Bool, {c.value, x.defined, y.defined});
  return {value, both(c.defined, chosen)};
}

UOp difference(Meanings& meanings, UOp left, UOp right) {
  Graph& graph = left.graph();
  const Meaning a = meanings.of(left), b = meanings.of(right);
  if (left.is(Op::Index)) {
    const UOp switched = graph.make(Op::Ne, DType::Bool, {a.defined, b.defined});
    const UOp moved = graph.make(Op::Ne, DType::Bool, {a.value, b.value});
    return graph.make(Op::Where, DType::Bool, {a.defined, moved | switched, switched});
  }
  const UOp equal = graph.make(Op::Eq, DType::Bool, {a.value, b.value});
  const UOp good = graph.make(Op::And, DType::Bool, {b.defined, equal});
  const UOp bad = graph.make(Op::Not, DType::Bool, {good});
  return graph.make(Op::And, DType::Bool, {a.defined, bad});
}

}  // namespace croze
