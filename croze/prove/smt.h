// smt.h -- graphs of integers as SMT-LIB text, with the exact meaning that eval.h gives each op.
//
// An Index is an integer of mathematics; an integer of a sized type is a bit-vector that wraps; a
// Bool is a Bool.  Each node becomes one definition, so shared parts stay shared and the text is as
// long as the graph.  What the solver cannot look into -- a loaded element, a comparison of floats,
// a sum -- becomes a constant of its own, free within the node's bounds: a theorem about it holds
// for every value that it could have.  The greatest or least of some values is one of them.
// Threefry is a function of which nothing else is known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/node_map.h"
#include "croze/graph/uop.h"

namespace croze {

// Definitions of the operations that SMT-LIB lacks; to be stated once, before all else.
std::string_view smt_prelude();

// The definitions of the nodes of one graph that were asked for so far.
class SmtScript {
 public:
  // With `trust_bounds`, leaves are asserted to lie within their bounds.  Without, they range over
  // all values of their dtype; Range and Variable nodes have their bounds in either case.
  explicit SmtScript(const Graph& graph, bool trust_bounds = true)
      : trust_bounds_(trust_bounds), known_(graph), chosen_(graph) {}

  // Casts are functions of which nothing else is known, too: what holds for those holds for all.
  void make_casts_opaque() { opaque_casts_ = true; }

  // The name of the value of `u`, an integral node.
  std::string name(UOp u);

  // (assert u), of a Bool node.
  void assert_true(UOp u);
  // Asks for values for which the two, of one dtype, differ.
  void assert_different(UOp a, UOp b);

  const std::string& text() const { return text_; }
  // The nodes that became constants, in order of appearance, and their names, space-separated.
  const std::vector<UOp>& leaves() const { return leaves_; }
  std::string leaf_names() const;

 private:
  std::string term_of(UOp u);
  std::string unknown_function(UOp u);
  UOp chosen_of(UOp u);
  void define(UOp u);
  void declare(UOp u);

  bool trust_bounds_;
  bool opaque_casts_ = false;
  std::string text_ = {};
  std::vector<UOp> leaves_ = {};
  NodeMap<bool> known_;
  NodeMap<UOp> chosen_;  // of a Reduce: the value that is the result, its ranges exchanged
};

}  // namespace croze
