// meaning.h -- what a graph with Invalid in it means.
//
// Invalid is no value.  An op on it has no value either, except that a Where has the value of the
// arm that it takes.  A place whose index or gate has no value, or whose gate is false, is off: a
// load there is zero.  So every expression is two: its value, and the condition under which it has
// one.  Both are graphs without Invalid and without gates, which the solver and the evaluator
// understand.
#pragma once

#include "croze/graph/node_map.h"
#include "croze/graph/uop.h"

namespace croze {

struct Meaning {
  UOp value;    // anything where `defined` is false; of an Index: its flat index
  UOp defined;  // Bool; of an Index: whether the place is on
};

class Meanings {
 public:
  explicit Meanings(Graph& graph) : graph_(graph), known_(graph) {}

  // Says what a leaf means that could be anything.
  void set(UOp leaf, const Meaning& meaning) { known_.set(leaf, meaning); }

  Meaning of(UOp u);

 private:
  Meaning derive(UOp u);
  Meaning place(UOp u);
  Meaning load(UOp u);
  Meaning select(UOp u);
  UOp both(UOp a, UOp b);

  Graph& graph_;
  NodeMap<Meaning> known_;
};

// A Bool node that is true where `right` is no substitute for `left`: where left has a value and
// right has none or another.  Two places differ where one is on and the other off, or both are on
// and their indices differ.
UOp difference(Meanings& meanings, UOp left, UOp right);

}  // namespace croze
