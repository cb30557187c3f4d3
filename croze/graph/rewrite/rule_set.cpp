// rule_set.cpp -- compiling rules to a discrimination tree, and matching against it.
#include "croze/graph/rewrite/rule_set.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "croze/base/error.h"
#include "croze/graph/analysis/measure.h"
#include "croze/graph/observer.h"
#include "croze/graph/text/print.h"

namespace croze {

Types types_of(Numbers numbers) {
  switch (numbers) {
    case Numbers::All: return any_type;
    case Numbers::Index: return index_type;
    case Numbers::Wrapping: return integrals;
    default: return floats;
  }
}

// ---- compiling rules --------------------------------------------------------------------------

namespace {

// Past the pattern that begins at t.
const Token* after(const Token* t) {
  for (int left = 1; left > 0; left--, t++) {
    if (t->is_call()) left += t->count;
  }
  return t;
}

// The ways of ordering the operands of a pattern's commutative ops, one after the other.
class Orderings {
 public:
  explicit Orderings(std::span<const Token> pattern) : pattern_(pattern) {
    for (const Token& t : pattern) num_swaps_ += can_swap(t);
    tokens_.reserve(pattern.size());
  }

  int count() const { return 1 << num_swaps_; }

  // Bit by bit, whether the operands of the next such op change places: the first op has the
  // highest.
  std::span<const Token> ordering(int swaps) {
    tokens_.clear();
    left_ = num_swaps_;
    append(pattern_.data(), swaps);
    return tokens_;
  }

 private:
  static bool can_swap(const Token& t) {
    return t.is_call() && t.count == 2 && is_commutative(t.op());
  }

  const Token* append(const Token* t, int swaps) {
    const Token* const head = t;
    tokens_.push_back(*t++);
    if (!head->is_call()) return t;
    if (can_swap(*head) && (swaps >> --left_ & 1)) {
      const Token* const second = after(t);
      const Token* const end = append(second, swaps);
      append(t, swaps);
      return end;
    }
    for (int i = 0; i < head->count; i++) t = append(t, swaps);
    return t;
  }

  std::span<const Token> pattern_;
  int num_swaps_ = 0, left_ = 0;
  std::vector<Token> tokens_ = {};
};

// Nodes remember by number which set has settled them; an address could be used again.
std::uint32_t next_id() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}

}  // namespace

RuleSet::RuleSet(std::string name, std::initializer_list<RuleList> lists)
    : name_(std::move(name)), id_(next_id()), lists_(lists) {
  compile();
}

RuleSet::RuleSet(std::string name, std::initializer_list<const RuleSet*> sets)
    : name_(std::move(name)), id_(next_id()) {
  for (const RuleSet* set : sets)
    lists_.insert(lists_.end(), set->lists_.begin(), set->lists_.end());
  compile();
}

void RuleSet::compile() {
  states_.resize(num_ops);
  std::int32_t order = 0;
  for (const RuleList& list : lists_) {
    for (const Rule& rule : list.rules) insert(rule, order++, list);
  }
}

namespace {

// Each capture gets the dtypes that all its uses allow: in another order of the operands of a
// commutative op, another of its uses comes first.
void restrict_captures(std::array<Token, Pattern::capacity>* tokens) {
  std::array<Types, Match::num_slots> types;
  types.fill(any_type);
  for (const Token& t : *tokens) {
    if (t.is_capture()) types[t.id] &= t.types;
  }
  for (Token& t : *tokens) {
    if (t.is_capture()) t.types = types[t.id];
  }
}

}  // namespace

// Inserts the rule once for every choice of ops for its families.
void RuleSet::insert(const Rule& rule, std::int32_t order, const RuleList& list) {
  std::vector<const Ops*> families;
  for (int i = 0; i < rule.pattern.size; i++) {
    const Token& t = rule.pattern.tokens[static_cast<std::size_t>(i)];
    if (t.kind != Token::Family) continue;
    const bool known = std::any_of(families.begin(), families.end(),
                                   [&](const Ops* f) { return f->letter == t.family->letter; });
    if (!known) families.push_back(t.family);
  }
  ensure(families.size() <= 2, "{}: more than two op families", place_of(rule));

  const auto size_of_family = [&](std::size_t i) {
    return i < families.size() ? families[i]->count : 1;
  };
  for (int first = 0; first < size_of_family(0); first++) {
    for (int second = 0; second < size_of_family(1); second++) {
      const int choice[2] = {first, second};
      Leaf leaf{&rule, order, 0, types_of(list.numbers), !list.why_it_ends};
      std::array<Token, Pattern::capacity> tokens = rule.pattern.tokens;
      restrict_captures(&tokens);
      for (std::size_t i = 0; i < families.size(); i++) {
        const Op op = families[i]->ops[static_cast<std::size_t>(choice[i])];
        leaf.family_slot[i] = slot_of(families[i]->letter);
        leaf.family_op[i] = static_cast<std::uint8_t>(op);
        leaf.num_families++;
        for (Token& t : tokens) {
          if (t.kind != Token::Family || t.id != leaf.family_slot[i]) continue;
          t.kind = Token::Call;
          t.id = leaf.family_op[i];
          t.value = 0;
        }
      }
      Orderings orderings({tokens.data(), after(tokens.data())});
      for (int i = 0; i < orderings.count(); i++) insert(orderings.ordering(i), leaf);
    }
  }
}

// One test of the tree per token; captures are numbered as they appear.
struct RuleSet::Insertion {
  Leaf* leaf;

  // The number of the capture in `slot`, and whether it is used for the first time.
  std::pair<std::uint8_t, bool> number(std::uint8_t slot) {
    for (std::int32_t i = 0; i < leaf->num_captures; i++) {
      if (leaf->slot_of[static_cast<std::size_t>(i)] == slot)
        return {static_cast<std::uint8_t>(i), false};
    }
    leaf->slot_of[static_cast<std::size_t>(leaf->num_captures)] = slot;
    return {static_cast<std::uint8_t>(leaf->num_captures++), true};
  }

  Test test_of(const Token& t, bool open) {
    Test test;
    test.types = t.types;
    switch (t.kind) {
      case Token::Call:
        test.kind = Test::Call;
        test.id = t.id;
        test.count = static_cast<std::uint8_t>(t.count - open);
        test.open = open;
        test.has_arg = t.has_arg;
        test.value = t.has_arg ? t.arg : 0;
        if (t.name != Token::no_name) test.name = number(t.name).first;
        return test;
      case Token::Literal:
      case Token::Real:
        test.kind = t.kind == Token::Literal ? Test::Literal : Test::Real;
        test.value = t.value;
        return test;
      default: break;
    }
    const auto [id, is_new] = number(t.id);
    test.id = id;
    test.kind = !is_new                 ? Test::Same
                : t.kind == Token::Any  ? Test::Bind
                : t.kind == Token::Rest ? Test::Rest
                                        : Test::Constant;
    if (test.kind == Test::Same) test.types = any_type;
    return test;
  }
};

namespace {

// Whether the call at `t` ends with a Rest.
bool ends_with_rest(const Token* t) {
  int left = t->count;
  for (++t; left > 0; left--) {
    if (left == 1) return t->kind == Token::Rest;
    int inside = 1;
    for (; inside > 0; inside--, t++) inside += t->is_call() ? t->count : 0;
  }
  return false;
}

}  // namespace

void RuleSet::insert(std::span<const Token> pattern, Leaf leaf) {
  Insertion insertion{&leaf};
  std::int32_t state = pattern[0].id;
  for (const Token& t : pattern) {
    state = follow(state, insertion.test_of(t, t.kind == Token::Call && ends_with_rest(&t)));
  }
  auto& leaves = states_[static_cast<std::size_t>(state)].leaves;
  if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
}

std::int32_t RuleSet::follow(std::int32_t state, const Test& test) {
  State& from = states_[static_cast<std::size_t>(state)];
  auto& edges = test.kind == Test::Call ? from.calls : from.edges;
  for (const Edge& e : edges) {
    if (e.test == test) return e.target;
  }
  if (test.kind == Test::Call) from.called.set(test.id);
  const auto target = static_cast<std::int32_t>(states_.size());
  edges.push_back({test, target});
  states_.emplace_back();
  return target;
}

// ---- matching ---------------------------------------------------------------------------------

namespace {

bool first_int_is(const Arg& arg, std::int64_t value) {
  if (arg.kind == Arg::Kind::Ints) return arg.size > 0 && arg.ints[0] == value;
  return arg.kind == Arg::Kind::Int && arg.value == value;
}

}  // namespace

// One walk of the tree, collecting every rule whose pattern matches.  Recursion follows the
// patterns, never the graph.
class RuleSet::Walk {
 public:
  struct Found {
    const Leaf* leaf;
    std::array<const Node*, Rule::max_captures> captures;
    std::array<std::uint8_t, Rule::max_captures> first_of_rest;
  };

  Walk(const RuleSet& set, const Node* root) : set_(set) {
    const Node* typed = root->num_src ? root->src[root->num_src - 1] : root;
    numbers_ = 1u << static_cast<int>(typed->dtype);
    const Pending pending{root, nullptr, -1};
    match(static_cast<std::int32_t>(root->op), &pending);
  }

  // In the order of the list.
  SmallVector<Found, 4> found;

 private:
  struct Pending {  // the nodes still to be matched, as a list
    const Node* node;
    const Pending* next;
    int first_of_rest;  // >= 0: not the node, but its sources from this one on
  };

  static bool accepts(const Test& test, const Node* u) {
    const bool fits = test.open ? u->num_src >= test.count : u->num_src == test.count;
    return u->op == static_cast<Op>(test.id) && fits && contains(test.types, u->dtype) &&
           (!test.has_arg || first_int_is(u->arg, test.value));
  }

  // Matches the operands of u, then the rest.
  void enter(const Edge& e, const Node* u, const Pending* rest) {
    Pending operands[Pattern::capacity];
    Pending remaining{u, rest, e.test.count};
    if (e.test.open) rest = &remaining;
    for (int i = e.test.count; i-- > 0;) {
      operands[i] = {u->src[i], rest, -1};
      rest = &operands[i];
    }
    match(e.target, rest);
  }

  void match(std::int32_t state, const Pending* todo) {
    const State& s = set_.states_[static_cast<std::size_t>(state)];
    if (!todo) {
      for (const Leaf& leaf : s.leaves) {
        if (leaf.types & numbers_) add(leaf);
      }
      return;
    }
    if (todo->first_of_rest < 0 && s.called[static_cast<std::size_t>(todo->node->op)]) {
      for (const Edge& e : s.calls) call(e, todo);
    }
    for (const Edge& e : s.edges) step(e, todo);
  }

  void call(const Edge& e, const Pending* todo) {
    const Node* u = todo->node;
    if (!accepts(e.test, u)) return;
    if (e.test.name != Token::no_name) captures_[e.test.name] = u;
    enter(e, u, todo->next);
  }

  void step(const Edge& e, const Pending* todo) {
    const Test& test = e.test;
    const Node* u = todo->node;
    if ((todo->first_of_rest >= 0) != (test.kind == Test::Rest)) return;
    switch (test.kind) {
      case Test::Call: return;  // never here
      case Test::Literal:
        if (UOp(u).is_const() && UOp(u).is_const(test.value)) match(e.target, todo->next);
        return;
      case Test::Real:
        if (u->op == Op::Const && is_float(u->dtype) && u->arg.value == test.value) {
          match(e.target, todo->next);
        }
        return;
      case Test::Same:
        if (captures_[test.id] == u) match(e.target, todo->next);
        return;
      case Test::Constant:
        if (u->op != Op::Const) return;
        break;
      case Test::Rest:
        first_of_rest_[test.id] = static_cast<std::uint8_t>(todo->first_of_rest);
        break;
      case Test::Bind: break;
    }
    if (u->op == Op::Invalid || !contains(test.types, u->dtype)) return;
    captures_[test.id] = u;
    match(e.target, todo->next);
  }

  void add(const Leaf& leaf) {
    found.push_back({&leaf, captures_, first_of_rest_});
    for (std::int64_t i = found.size() - 1; i > 0; i--) {
      if (found[i - 1].leaf->order <= found[i].leaf->order) break;
      std::swap(found[i - 1], found[i]);
    }
  }

  const RuleSet& set_;
  Types numbers_;
  std::array<const Node*, Rule::max_captures> captures_ = {};
  std::array<std::uint8_t, Rule::max_captures> first_of_rest_ = {};
};

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

UOp RuleSet::try_leaf(const Leaf& leaf, std::span<const Node* const> captures,
                      std::span<const std::uint8_t> first_of_rest, UOp node, void* state) const {
  Match::Captures slots;
  for (std::size_t i = 0; i < static_cast<std::size_t>(leaf.num_captures); i++) {
    slots.nodes[leaf.slot_of[i]] = captures[i];
    slots.ops[leaf.slot_of[i]] = first_of_rest[i];
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(leaf.num_families); i++) {
    slots.ops[leaf.family_slot[i]] = leaf.family_op[i];
  }
  const Rule& rule = *leaf.rule;
  const Match m(node.graph(), node, slots, state);
  if (rule.rewrite) return rule.rewrite(m);
  if (!m.proves(rule.condition)) return {};
  const UOp result = m.build(rule.replacement);
  if (result.dtype() != node.dtype()) {  // only then are rules printed, which takes long
    fail_internal({}, "{} makes {} of {}", to_string(rule), name_of(result.dtype()),
                  name_of(node.dtype()));
  }
  // A constant is a scalar; where it would replace a vector, it may not.
  return result.rank() == node.rank() ? result : UOp();
}

void RuleSet::tell_tried(const Rule& rule, UOp before, UOp after, std::int64_t ns) const {
  tell_observers([&](CompileObserver& o) { o.tried(*this, rule, before, after, ns); });
}

UOp RuleSet::apply(UOp node, void* state, const Rule** fired) const {
  const bool watched = are_rules_watched();
  if (watched) tell_observers([&](CompileObserver& o) { o.visited(*this, node); });
  const std::size_t start = static_cast<std::size_t>(node.op());
  if (states_[start].is_empty()) return {};
  Walk walk(*this, node.node());
  if (walk.found.empty()) return {};
  for (const Walk::Found& f : walk.found) {
    const std::int64_t begin = watched ? now_ns() : 0;
    UOp result = try_leaf(*f.leaf, f.captures, f.first_of_rest, node, state);
    if (result == node) result = {};
    if (watched) tell_tried(*f.leaf->rule, node, result, now_ns() - begin);
    if (!result) continue;
#ifndef NDEBUG
    if (f.leaf->makes_smaller && !is_seen_smaller(result, node).value_or(true)) {
      fail_internal({}, "{} makes {} no smaller: {}", to_string(*f.leaf->rule), to_string(node),
                    to_string(result));
    }
#endif
    if (fired) *fired = f.leaf->rule;
    return result;
  }
  return {};
}

}  // namespace croze
