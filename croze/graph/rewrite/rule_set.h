// rule_set.h -- lists of rules, compiled for matching.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/rewrite/rule.h"

namespace croze {

// Which numbers the rules of a list are true of.  The matcher looks at the dtype of the root's last
// source (of the root itself, if it has none) and skips the list on any other.
enum class Numbers : std::uint8_t {
  All,       // structure: nothing is computed
  Index,     // unbounded integers, which bounds keep from overflowing
  Wrapping,  // integers of any width that wrap, Bool, and therefore Index too
  Ieee,      // floats, exactly: NaN, infinities and both zeros included
  Real,      // floats where rounding and special values do not matter (fast maths)
};
Types types_of(Numbers numbers);

// A family of rules: the content of one rule file.
struct RuleList {
  const char* name;
  Numbers numbers;
  std::span<const Rule> rules;
  // Why rewriting with them ends.  Null: each makes what it rewrites smaller (measure.h), which
  // debug builds check whenever one fires.
  const char* why_it_ends = nullptr;
};

// Lists of rules, compiled to a tree.  The first rule in the order of the lists that applies wins.
// Immutable once built, so one set can be used from many threads.
//
// Each pattern, read in prefix order, is a path from the tree's root to a leaf; patterns that begin
// alike share the beginning of their path.  A node is matched against all rules at once by walking
// the tree, so rules that cannot match cost nothing once their paths have parted.
class RuleSet {
 public:
  RuleSet(std::string name, std::initializer_list<RuleList> lists);
  RuleSet(std::string name, std::initializer_list<const RuleSet*> sets);

  // Applies the first rule that matches `node`.  Returns null if none does.  `fired` gets the rule.
  UOp apply(UOp node, void* state = nullptr, const Rule** fired = nullptr) const;

  const std::string& name() const { return name_; }
  std::uint32_t id() const { return id_; }  // > 0, of this object alone
  std::span<const RuleList> lists() const { return lists_; }

 private:
  // What one edge of the tree asks of the next node.  Captures are numbered by first use, so that
  // x + x and y + y are the same path.
  struct Test {
    enum Kind : std::uint8_t { Call, Bind, Constant, Same, Literal, Real, Rest };
    Kind kind = Call;
    std::uint8_t id = 0;     // Call: the op.  Bind, Constant, Same, Rest: the capture.
    std::uint8_t count = 0;  // Call: number of operands, at least if `open`
    bool open = false;
    bool has_arg = false;
    std::uint8_t name = Token::no_name;  // Call: the capture that names it
    Types types = any_type;
    std::int64_t value = 0;  // Literal, Real; Call: the argument
    bool operator==(const Test&) const = default;
  };
  struct Edge {
    Test test;
    std::int32_t target;
  };
  struct Leaf {
    const Rule* rule;
    std::int32_t order;  // place among all rules
    std::int32_t num_captures;
    Types types;                                             // of the root's numbers
    bool makes_smaller;                                      // by measure.h
    std::array<std::uint8_t, Rule::max_captures> slot_of{};  // capture -> slot of the rule
    std::array<std::uint8_t, 2> family_slot{};               // slot of a family of ops ...
    std::array<std::uint8_t, 2> family_op{};                 // ... and the op of this path
    std::int32_t num_families = 0;
    bool operator==(const Leaf&) const = default;
  };
  struct State {
    std::vector<Edge> calls;  // by op, together: most nodes have none of them
    std::vector<Edge> edges;  // the others
    std::vector<Leaf> leaves;
    std::bitset<num_ops> called;  // the ops of `calls`

    bool is_empty() const { return calls.empty() && edges.empty(); }
  };
  class Walk;
  struct Insertion;

  void compile();
  void insert(const Rule& rule, std::int32_t order, const RuleList& list);
  void insert(std::span<const Token> pattern, Leaf leaf);
  std::int32_t follow(std::int32_t state, const Test& test);
  UOp try_leaf(const Leaf& leaf, std::span<const Node* const> captures,
               std::span<const std::uint8_t> first_of_rest, UOp node, void* state) const;

  void tell_tried(const Rule& rule, UOp before, UOp after, std::int64_t ns) const;

  std::string name_;
  std::uint32_t id_;
  std::vector<RuleList> lists_;
  std::vector<State> states_;  // the first num_ops are the starting states, by root op
};

}  // namespace croze
