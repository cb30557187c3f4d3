// rewrite.cpp -- the drivers: explicit stacks, so that depth costs memory and never the call stack.
#include "croze/graph/rewrite/rewrite.h"

#include <string>

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rule_set.h"

namespace croze {
namespace {

constexpr int max_rewrites_per_node = 1000;
constexpr int rewrites_named = 6;  // in the message when they do not end

[[noreturn]] void fail_to_settle(const RuleSet& rules, UOp u, void* state) {
  std::string last;
  const Rule* fired = nullptr;
  for (int i = 0; i < rewrites_named && u; i++) {
    u = rules.apply(u, state, &fired);
    if (u) last += "\n  " + to_string(*fired);
  }
  fail_internal({.pass = rules.name(), .node = {}}, "rules do not settle; the next are{}", last);
}

// Nodes are immutable and rules are pure, so a node to which no rule applies, nor below it, stays
// so: it is marked, and no later rewriting by the same set looks at it again.  (Rules that read the
// state of a pass may answer differently the next time; what they leave is not marked.)
class Rewriter {
 public:
  Rewriter(Graph& graph, const RuleSet& rules, void* state)
      : graph_(graph), rules_(rules), state_(state), memo_(graph) {}

  UOp post(UOp root);
  UOp pre(UOp root);
  UOp walk(UOp root);

 private:
  struct Frame {
    UOp original, current;
    int rewrites;
    bool settled;         // Pre: no rule applies to `current`
    std::int64_t opened;  // size of `opened_` when the frame was made
  };
  struct Memo {
    UOp result;          // null: not known
    bool waits = false;  // for its sources
  };

  // The final form of `u`, or null if it is not known yet.
  UOp known(UOp u) const {
    return !state_ && u.node()->settled == rules_.id() ? u : memo_.get(u).result;
  }

  // No rule applies to `u`, and its sources are final.
  void settle(UOp u) {
    if (!state_) u.node()->settled = rules_.id();
    memo_.set(u, {u});
    finish(u);
  }

  void push(UOp u) { stack_.push_back({u, u, 0, false, opened_.size()}); }
  void open(UOp u) {
    memo_.set(u, {UOp(), true});
    opened_.push_back(u);
  }

  // Pushes the sources that are not done; true if there were any.  A source that waits for its own
  // sources already was put below itself by a rule: x became f(x), which never settles.
  bool push_sources(UOp u) {
    const UOp original = stack_.back().original;
    bool any = false;
    for (UOp s : u.sources()) {
      if (known(s)) continue;
      if (!any) {
        open(original);
        open(u);
        any = true;
      }
      if (memo_.get(s).waits) fail_to_settle(rules_, s, state_);
      push(s);
    }
    return any;
  }

  // `u` over the final forms of its sources.
  UOp rebuilt(UOp u) {
    src_.clear();
    bool changed = false;
    for (UOp s : u.sources()) {
      src_.push_back(known(s));
      changed = changed || src_.back() != s;
    }
    return changed ? graph_.with_sources(u, src_) : u;
  }

  // Every form that the node took on the way has this result.
  void finish(UOp result) {
    const Frame top = stack_.back();
    memo_.set(top.original, {result});
    for (std::int64_t i = top.opened; i < opened_.size(); i++) memo_.set(opened_[i], {result});
    opened_.resize(top.opened);
    stack_.pop_back();
  }

  void replace(UOp next) {
    Frame& top = stack_.back();
    if (++top.rewrites > max_rewrites_per_node) fail_to_settle(rules_, next, state_);
    top.current = next;
    top.settled = false;
  }

  Graph& graph_;
  const RuleSet& rules_;
  void* state_;
  NodeMap<Memo> memo_;
  SmallVector<Frame, 32> stack_;
  SmallVector<UOp, 32> opened_;  // what the frames on the stack have opened, in their order
  SmallVector<UOp, 8> src_;
};

UOp Rewriter::post(UOp root) {
  push(root);
  while (!stack_.empty()) {
    const UOp current = stack_.back().current;
    if (const UOp result = known(current)) {
      finish(result);
      continue;
    }
    if (push_sources(current)) continue;
    UOp next = rebuilt(current);
    if (next == current) next = rules_.apply(current, state_);
    if (next) {
      replace(next);
    } else {
      settle(current);
    }
  }
  return known(root);
}

UOp Rewriter::pre(UOp root) {
  push(root);
  while (!stack_.empty()) {
    const UOp current = stack_.back().current;
    if (const UOp result = known(current)) {
      finish(result);
      continue;
    }
    if (!stack_.back().settled) {
      if (const UOp next = rules_.apply(current, state_)) {
        replace(next);
        continue;
      }
      stack_.back().settled = true;
    }
    if (push_sources(current)) continue;
    if (const UOp next = rebuilt(current); next != current) {
      replace(next);
    } else {
      settle(current);
    }
  }
  return known(root);
}

UOp Rewriter::walk(UOp root) {
  push(root);
  while (!stack_.empty()) {
    const UOp u = stack_.back().original;
    if (memo_.get(u).result) {
      stack_.pop_back();
      continue;
    }
    if (push_sources(u)) continue;
    const UOp next = rebuilt(u);
    const UOp result = rules_.apply(next, state_);
    finish(result ? result : next);
  }
  return memo_.get(root).result;
}

}  // namespace

UOp rewrite(UOp root, const RuleSet& rules, Order order, void* state) {
  Rewriter rewriter(root.graph(), rules, state);
  switch (order) {
    case Order::Post: return rewriter.post(root);
    case Order::Pre: return rewriter.pre(root);
    case Order::Walk: return rewriter.walk(root);
  }
  return root;
}

UOp substitute(UOp root, std::span<const std::pair<UOp, UOp>> replacements) {
  Graph& graph = root.graph();
  NodeMap<UOp> done(graph);
  for (const auto& [from, to] : replacements) done.set(from, to);
  std::vector<UOp> stack{root};
  std::vector<UOp> src;
  while (!stack.empty()) {
    const UOp u = stack.back();
    if (done.get(u)) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    for (UOp s : u.sources()) {
      if (done.get(s)) continue;
      stack.push_back(s);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    src.clear();
    bool changed = false;
    for (UOp s : u.sources()) {
      src.push_back(done.get(s));
      changed = changed || src.back() != s;
    }
    done.set(u, changed ? graph.with_sources(u, src) : u);
  }
  return done.get(root);
}

std::vector<UOp> toposort(UOp root) { return toposort(std::span(&root, 1)); }

std::vector<UOp> toposort(std::span<const UOp> roots) {
  NodeSet seen;
  return toposort(roots, seen);
}

std::vector<UOp> toposort(std::span<const UOp> roots, NodeSet& seen) {
  struct Visit {
    UOp node;
    int next;  // source to look at
  };
  std::vector<UOp> order;
  std::vector<Visit> stack;
  for (UOp root : roots) {
    if (seen.insert(root.node())) stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [u, next] = stack.back();
      while (next < u.num_src() && !seen.insert(u.src(next).node())) next++;
      if (next < u.num_src()) {
        stack.push_back({u.src(next), 0});
      } else {
        order.push_back(u);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace croze
