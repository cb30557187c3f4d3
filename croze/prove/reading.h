// reading.h -- the well-typed readings of a rule, and its two sides as graphs.
//
// A rule speaks of many dtypes at once: x + 0 -> x of ten kinds of integers.  A Reading fixes the
// dtype of every part of one rule, and the op of every family in it, such that all parts fit each
// other.  Dtypes are found by unification: operands share the dtype of their op, those of a
// comparison share one of their own, a condition is Bool, and a Cast takes anything.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "croze/graph/rewrite/rule_set.h"

namespace croze {

class Graph;

// One token of a rule, with the tokens below it.
struct RulePart {
  const Token* token;
  Op op = Op::Const;  // of a call, its family resolved
  DType dtype = DType::Void;
  std::vector<int> operands = {};  // places in Reading::parts
};

struct Reading {
  const Rule* rule = nullptr;
  std::vector<RulePart> parts = {};
  int pattern = 0, replacement = -1;  // places of the two roots; -1: the rule is a function

  // "x: int8, c: int8, o: add"
  std::string text() const;
  // All parts of integers and Bool: the solver can look into it.
  bool is_integral() const;
  // A copy with each dtype replaced by another.
  Reading with(DType from, DType to) const;
  // The place of the part that a letter stands for: a capture's first use, or a named call.
  int place_of(std::uint8_t slot) const;
};

// Every reading of the rule in a list about `numbers`, with dtypes among `allowed` only.  None for
// rules about views.
std::vector<Reading> readings_of(const Rule& rule, Numbers numbers, Types allowed);

// Chooses the node that stands for a capture of a dtype.
class LeafSource {
 public:
  virtual ~LeafSource() = default;
  virtual UOp leaf(Graph& graph, const Token& capture, DType t) = 0;
};

// Values of which nothing is known: elements loaded from buffers of their own.
class OpaqueLeaves : public LeafSource {
 public:
  UOp leaf(Graph& graph, const Token& capture, DType t) override;
};

// Both sides of a reading, built node by node exactly as written: nothing is folded.
struct Instance {
  UOp left, right;              // right is null if the rule is a function
  std::array<UOp, 26> names{};  // by letter
};
Instance instantiate(const Reading& reading, Graph& graph, LeafSource& leaves);

}  // namespace croze
