// past.cpp -- gradients through what has been computed, and how long that can be asked for.
//
// A computed tensor is recorded from as the Buffer that holds its value, so the graph above ends
// there.  The table of histories says as what each such value was computed; to differentiate, the
// graph is unfolded: every value whose history leads to a target is replaced by it.  What comes
// back reads the values again, not their histories, so nothing is computed twice.
//
// Values that were overwritten are read where a copy of them stands, or computed again from their
// history if they have one.  If not, a gradient that needs them is an error.  It is one, too, if
// the loss knows a target only as it was before an assignment: zeros would look like an answer.
//
// A history holds on to memory, so it is kept only while some live tensor could be a target behind
// it.  That does not bound a loop like `state = f(w, state).realize()`, which never ends and is
// never differentiated; so a value that can be reached from live tensors only through many
// others that are dropped has its history cut, and only which memory it led to is remembered.
#include "croze/tensor/past.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/gradient/gradient.h"
#include "croze/graph/gradient/gradient_rules.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/views.h"

namespace croze {
namespace {

constexpr int longest_history = 64;  // in values of dropped tensors

using Histories = FlatMap<const Node*, UOp>;
using Nodes = FlatSet<const Node*>;

bool always(UOp) { return true; }

// The nodes below the roots that are not in `seen` yet, sources first.  A value stands on its
// history; below a node that does not pass, the walk ends.
std::vector<UOp> below(std::span<const UOp> roots, const Histories& histories, Nodes& seen,
                       bool (*passes)(UOp) = always) {
  std::vector<UOp> order;
  std::vector<std::pair<UOp, bool>> stack;
  for (UOp root : roots) stack.emplace_back(root, false);
  while (!stack.empty()) {
    const auto [u, is_done] = stack.back();
    stack.pop_back();
    if (is_done) order.push_back(u);
    if (is_done || !seen.insert(u.node())) continue;
    stack.emplace_back(u, true);
    if (const UOp* history = histories.find(u.node())) stack.emplace_back(*history, false);
    if (!passes(u)) continue;
    for (UOp s : u.sources()) stack.emplace_back(s, false);
  }
  return order;
}

std::vector<UOp> below(std::span<const UOp> roots, const Histories& histories,
                       bool (*passes)(UOp) = always) {
  Nodes seen;
  return below(roots, histories, seen, passes);
}

// Those of the nodes, given sources first, from which one that is wanted can be reached.
Nodes leading_to(const Nodes& wanted, std::span<const UOp> order, const Histories& histories) {
  Nodes leading;
  for (UOp u : order) {
    const UOp* history = histories.find(u.node());
    bool leads = wanted.contains(u.node()) || (history && leading.contains(history->node()));
    for (UOp s : u.sources()) leads = leads || leading.contains(s.node());
    if (leads) leading.insert(u.node());
  }
  return leading;
}

// What an After means, given what its sources are now: each stored value in its place.  For memory
// that holds other contents, into which nothing can be stored any more.
UOp replaced(UOp after, std::span<const UOp> sources) {
  UOp whole = sources[0];
  for (std::size_t i = 1; i < sources.size(); i++) {
    if (!sources[i].is(Op::Store)) continue;
    std::vector<ViewStep> steps;
    for (UOp place = after.src(static_cast<int>(i)).src(0); place != after.src(0);
         place = place.src(0)) {
      ensure(is_movement(place.op()), "a store into {}, which is no view of what follows it",
             info(place.op()).name);
      steps.push_back({place.op(), Shape(place.arg().as_ints())});
    }
    std::ranges::reverse(steps);
    whole = with_view_replaced(whole, steps, sources[i].src(1));
  }
  return whole;
}

// The Buffer that a node is a view of; null if it computes something.
UOp buffer_under(UOp node) {
  while (is_movement(node.op())) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

template <typename Map, typename Condition>
void erase_if(Map& map, Condition condition) {
  std::vector<const Node*> keys;
  for (const auto& [key, value] : map) {
    if (condition(key, value)) keys.push_back(key);
  }
  for (const Node* key : keys) map.erase(key);
}

std::string place_of(const Location& at) {
  return at.line() == 0 ? "" : fmt::format(" at {}:{}", at.file_name(), at.line());
}

}  // namespace

void Past::overwritten(UOp before, UOp now, Location by) {
  const std::int64_t memory = memory_of(before);
  overwritten_.insert(before.node(), {memory, by});
  memories_.erase(before.buffer_id());
  memories_.insert(now.buffer_id(), memory);
}

std::int64_t Past::memory_of(UOp buffer) const {
  const std::int64_t* memory = memories_.find(buffer.buffer_id());
  return memory ? *memory : buffer.buffer_id();
}

bool Past::is_gone(UOp value) const {
  const UOp buffer = viewed_buffer(value);
  return buffer && overwritten_.contains(buffer.node());
}

// ---- gradients --------------------------------------------------------------------------------

std::vector<UOp> Past::gradient(const Call& call, UOp loss, std::span<const UOp> targets) const {
  Histories histories = histories_;
  Nodes recorded;
  below(std::span(&loss, 1), histories_, recorded);
  for (const auto& [value, node] : stored_) {
    if (node.is(Op::After) && recorded.contains(node.node())) histories.insert(value, node);
  }
  Nodes known;
  const std::vector<UOp> reached = below(std::span(&loss, 1), histories, known, passes_gradient);
  Nodes wanted;
  for (UOp t : targets) {
    wanted.insert(t.node());
    // What was recorded from the target before it was computed stands on its history.
    const UOp* history = histories.find(t.node());
    if (history) wanted.insert(history->node());
    const bool is_known = known.contains(t.node()) || (history && known.contains(history->node()));
    if (!is_known) check_independent(call, reached, t);
  }
  const Nodes leading = leading_to(wanted, reached, histories);
  erase_if(histories, [&](const Node* value, UOp history) {
    return !leading.contains(history.node()) && !is_gone(UOp(value));
  });

  FlatMap<const Node*, UOp> now;
  std::vector<UOp> roots{loss};
  roots.insert(roots.end(), targets.begin(), targets.end());
  unfold(loss.graph().sink(roots), histories, now);
  const auto now_of = [&](UOp u) { return *now.find(u.node()); };
  std::vector<UOp> new_targets;
  for (UOp t : targets) new_targets.push_back(now_of(t));
  std::vector<UOp> result = croze::gradient(now_of(loss), new_targets);

  // What is in memory still is read there.
  std::vector<std::pair<UOp, UOp>> present;
  const auto read_back = [&](const Node* value, UOp meaning) {
    const UOp* unfolded = now.find(meaning.node());
    if (unfolded && !is_gone(UOp(value))) present.emplace_back(*unfolded, UOp(value));
  };
  for (const auto& [value, history] : histories) read_back(value, history);
  for (const auto& [value, node] : stored_) {
    if (is_gone(node)) read_back(value, node);
  }
  if (!present.empty()) {
    const UOp all = substitute(loss.graph().sink(result), present);
    for (std::size_t i = 0; i < result.size(); i++) result[i] = all.src(static_cast<int>(i));
  }
  check_present(call, result);
  return result;
}

// The graph below `root` with every value replaced by its history; `now` maps each old node to its
// new one.
void Past::unfold(UOp root, const Histories& histories, Histories& now) const {
  std::vector<UOp> needed;
  for (UOp u : below(std::span(&root, 1), histories)) {
    if (const UOp* history = histories.find(u.node())) {
      now.insert(u.node(), *now.find(history->node()));
      continue;
    }
    needed.clear();
    bool changed = false;
    for (UOp s : u.sources()) {
      needed.push_back(*now.find(s.node()));
      changed = changed || needed.back() != s;
    }
    if (u.is(Op::After) && is_gone(u)) {
      now.insert(u.node(), replaced(u, needed));
    } else {
      now.insert(u.node(), changed ? u.graph().with_sources(u, needed) : u);
    }
  }
}

// Throws if what a loss was computed from leads to earlier contents of the target.
void Past::check_independent(const Call& call, std::span<const UOp> reached, UOp target) const {
  const UOp buffer = buffer_under(target);
  if (!buffer) return;
  for (UOp u : reached) {
    if (const Overwritten* gone = overwritten_.find(u.node())) {
      call.require(gone->memory != memory_of(buffer),
                   "a target of shape {} was assigned to{} after this tensor had been computed "
                   "from it: ask for the gradient before that",
                   to_text(Shape(target.shape())), place_of(gone->by));
    }
    if (const FlatSet<std::int64_t>* memories = cut_.find(u.node())) {
      call.require(!memories->contains(memory_of(buffer)),
                   "this tensor depends on a target of shape {} through more than {} tensors that "
                   "were computed and dropped: detach() where the gradient may end, or compute "
                   "fewer of them",
                   to_text(Shape(target.shape())), longest_history);
    }
  }
}

// Throws if the nodes read what is gone.
void Past::check_present(const Call& call, std::span<const UOp> results) const {
  if (overwritten_.empty()) return;
  for (UOp u : toposort(results)) {
    const Overwritten* gone = overwritten_.find(u.node());
    call.require(
        !gone,
        "the gradient needs what a tensor of {} elements of {} held before it was assigned "
        "to{}: ask for the gradient before that, or assign to a copy",
        u.elements(), name_of(u.dtype()), gone ? place_of(gone->by) : "");
  }
}

// ---- what is kept -----------------------------------------------------------------------------

Past::Nodes Past::prune(std::span<const UOp> live) {
  drop_useless(live);
  Nodes seen = keep_reached(live);
  erase_if(histories_, [&](const Node* value, UOp) { return !seen.contains(value); });
  erase_if(overwritten_, [&](const Node* value, const auto&) { return !seen.contains(value); });
  erase_if(cut_, [&](const Node* value, const auto&) { return !seen.contains(value); });
  erase_if(stored_, [&](const Node* value, UOp node) {
    return !seen.contains(value) || !seen.contains(node.node());
  });
  return seen;
}

// Drops the histories that lead to no live tensor, unless they can bring back what is gone.
void Past::drop_useless(std::span<const UOp> live) {
  if (histories_.empty()) return;
  const std::vector<UOp> order = below(live, histories_);
  Nodes reading;  // memory: others cannot be targets
  for (UOp u : order) {
    bool reads = u.is(Op::Buffer);
    for (UOp s : u.sources()) reads = reads || reading.contains(s.node());
    if (reads) reading.insert(u.node());
  }
  Nodes wanted;
  for (UOp u : live) {
    if (reading.contains(u.node())) wanted.insert(u.node());
  }
  for (const auto& [value, memories] : cut_) wanted.insert(value);
  const Nodes leading = leading_to(wanted, order, histories_);
  erase_if(histories_, [&](const Node* value, UOp history) {
    return !leading.contains(history.node()) && !is_gone(UOp(value));
  });
}

// The nodes that are reached from live ones, generation by generation of computed values.
Past::Nodes Past::keep_reached(std::span<const UOp> live) {
  static const Histories none;
  const FlatSet<std::int64_t> memories = memories_of(live);
  erase_if(cut_, [&](const Node*, const auto& led_to) {
    return std::ranges::none_of(led_to, [&](std::int64_t m) { return memories.contains(m); });
  });
  Nodes seen;
  std::vector<UOp> generation(live.begin(), live.end());
  for (int age = 0; !generation.empty(); age++) {
    std::vector<UOp> before;
    for (UOp u : below(generation, none, seen)) {
      const UOp* history = histories_.find(u.node());
      if (!history) continue;
      if (age < longest_history) {
        before.push_back(*history);
      } else {
        cut(u, memories);
      }
    }
    generation = std::move(before);
  }
  return seen;
}

// The memory of those of the nodes that are in memory.
FlatSet<std::int64_t> Past::memories_of(std::span<const UOp> nodes) const {
  FlatSet<std::int64_t> memories;
  for (UOp u : nodes) {
    if (const UOp buffer = buffer_under(u)) memories.insert(memory_of(buffer));
  }
  return memories;
}

void Past::cut(UOp value, const FlatSet<std::int64_t>& live) {
  FlatSet<std::int64_t> found;
  for (UOp u : below(std::span(&value, 1), histories_)) {
    if (u.is(Op::Buffer) && live.contains(memory_of(u))) found.insert(memory_of(u));
    if (const FlatSet<std::int64_t>* others = cut_.find(u.node())) {
      for (std::int64_t m : *others) found.insert(m);
    }
  }
  if (!found.empty()) cut_.insert(value.node(), std::move(found));
  histories_.erase(value.node());
}

}  // namespace croze
