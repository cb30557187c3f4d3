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
// never differentiated; so a value that can be reached from live tensors only through many others
// that are dropped has its history cut.  Of histories that are dropped or cut only the contents of
// live tensors that they led to are remembered, as numbers, so that no gradient becomes zero
// because memory was scarce: it is the same as before, or an error.
#include "croze/tensor/past.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/gradient/gradient.h"
#include "croze/graph/gradient/gradient_rules.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/notes/call_notes.h"
#include "croze/run/notes/gradient_notes.h"
#include "croze/tensor/record.h"
#include "croze/tensor/storage.h"
#include "croze/tensor/views.h"

namespace croze {
namespace {

constexpr int longest_history = 64;  // in values of dropped tensors

using Histories = FlatMap<const Node*, UOp>;
using Nodes = Past::Nodes;

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

// Those of the nodes, given sources first, from which a gradient comes to one that is wanted.
Nodes leading_to(const Nodes& wanted, std::span<const UOp> order, const Histories& histories) {
  Nodes leading;
  for (UOp u : order) {
    const UOp* history = histories.find(u.node());
    bool leads = wanted.contains(u.node()) || (history && leading.contains(history->node()));
    if (passes_gradient(u)) {
      for (UOp s : u.sources()) leads = leads || leading.contains(s.node());
    }
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
    const UOp place = after.src(static_cast<int>(i)).src(0);
    whole = with_view_replaced(whole, steps_to(place, after.src(0)), sources[i].src(1));
  }
  return whole;
}

// A node that means the same and is another one for each number; 0 is the node itself.
UOp another(UOp node, int number) {
  std::vector<UOp> sources;
  for (UOp s : node.sources()) {
    for (int i = 0; i < number; i++) {
      s = node.graph().make(Op::ContiguousBackward, s.dtype(), {s});
    }
    sources.push_back(s);
  }
  return number == 0 ? node : node.graph().with_sources(node, sources);
}

// The sources of those of the nodes that pass.
Nodes read_by(std::span<const UOp> order, bool (*passes)(UOp) = always) {
  Nodes read;
  for (UOp u : order) {
    if (!passes(u)) continue;
    for (UOp s : u.sources()) read.insert(s.node());
  }
  return read;
}

std::vector<UOp> nodes_of(std::span<const Past::Live> live) {
  std::vector<UOp> nodes;
  for (const Past::Live& l : live) nodes.push_back(l.node);
  return nodes;
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

void Past::left(UOp node, Contents contents, Location by) {
  const auto [former, is_new] = former_.insert(node.node(), {contents, by});
  if (is_new || former->contents.tensor == contents.tensor) return;
  ContentsSet& leads = leads_[node.node()];
  leads = merged(leads, set_of({contents}));
}

void Past::overwritten(UOp before, Location by) {
  former_.insert(before.node(), {Contents(), by}).first->is_gone = true;
}

std::vector<UOp> Past::left_nodes() const {
  std::vector<UOp> nodes;
  for (const auto& [node, former] : former_) {
    if (!former.is_gone && !storage_of(UOp(node))) nodes.emplace_back(node);
  }
  return nodes;
}

void Past::rename_left(std::span<const UOp> nodes, std::span<const UOp> now) {
  for (std::size_t i = 0; i < nodes.size(); i++) {
    if (nodes[i] == now[i]) continue;
    const Former former = *former_.find(nodes[i].node());
    former_.erase(nodes[i].node());
    left(now[i], former.contents, former.by);
    if (const ContentsSet* more = leads_.find(nodes[i].node())) {
      const ContentsSet set = *more;
      leads_.erase(nodes[i].node());
      ContentsSet& leads = leads_[now[i].node()];
      leads = merged(leads, set);
    }
  }
}

const Past::Former* Past::gone(UOp value) const {
  const Former* former = former_.find(value.node());
  return former && former->is_gone ? former : nullptr;
}

bool Past::is_gone(UOp value) const {
  const UOp buffer = viewed_buffer(value);
  return buffer && gone(buffer);
}

// ---- gradients --------------------------------------------------------------------------------

// All histories, and as what the contents came about that stores below the roots have left.
Past::Histories Past::histories_below(std::span<const UOp> roots) const {
  Histories histories = histories_;
  Nodes recorded;
  below(roots, histories_, recorded);
  for (const auto& [value, node] : stored_) {
    if (node.is(Op::After) && recorded.contains(node.node())) histories.insert(value, node);
  }
  return histories;
}

std::vector<Past::Given> Past::given_between(std::span<const UOp> roots,
                                             std::span<const UOp> targets) const {
  const Histories histories = histories_below(roots);
  const std::vector<UOp> reached = below(roots, histories, passes_gradient);
  Nodes wanted;
  for (UOp t : targets) {
    wanted.insert(t.node());
    if (const UOp* history = histories.find(t.node())) wanted.insert(history->node());
  }
  const Nodes leading = leading_to(wanted, reached, histories);
  std::vector<Given> given;
  for (UOp u : reached) {
    if (!u.is(Op::WithGradient)) continue;
    Given g{u, {}};
    for (int i = 1; i < u.num_src(); i++) g.leads.push_back(leading.contains(u.src(i).node()));
    if (std::ranges::find(g.leads, true) != g.leads.end()) given.push_back(std::move(g));
  }
  return given;
}

std::vector<UOp> Past::gradient(const Call& call, std::span<const UOp> roots,
                                std::span<const UOp> weights,
                                std::span<const Target> targets) const {
  Histories histories = histories_below(roots);
  const std::vector<UOp> reached = below(roots, histories, passes_gradient);
  const Nodes wanted = known_of(call, roots, targets, reached, histories);
  const Nodes leading = leading_to(wanted, reached, histories);
  erase_if(histories, [&](const Node* value, UOp history) {
    return !leading.contains(history.node()) && !is_gone(UOp(value));
  });

  FlatMap<const Node*, UOp> now;
  Graph& graph = roots[0].graph();
  std::vector<UOp> all_nodes(roots.begin(), roots.end());
  for (const Target& t : targets) all_nodes.push_back(t.node);
  unfold(graph.sink(all_nodes), histories, now);
  const auto now_of = [&](UOp u) { return *now.find(u.node()); };
  std::vector<UOp> new_roots, new_targets;
  for (UOp root : roots) new_roots.push_back(now_of(root));
  for (const Target& t : targets) {
    new_targets.push_back(wanted.contains(t.node.node()) ? now_of(t.node) : t.node);
  }
  carry_notes(roots, new_roots);
  std::vector<UOp> result;
  {
    GradientNotes notes;
    result = croze::gradient(new_roots, weights, new_targets);
    notes.note(new_roots);
  }

  // What is in memory still is read there.
  std::vector<std::pair<UOp, UOp>> present;
  const auto read_back = [&](const Node* value, const Node* meaning) {
    const UOp* meant = now.find(meaning);
    if (meant && !is_gone(UOp(value))) present.emplace_back(*meant, UOp(value));
  };
  for (const auto& [value, history] : histories) read_back(value, value);
  for (const auto& [value, node] : stored_) {
    if (is_gone(node)) read_back(value, node.node());
  }
  if (!present.empty()) {
    const UOp before = graph.sink(result), all = substitute(before, present);
    carry_notes(std::span(&before, 1), std::span(&all, 1));
    for (std::size_t i = 0; i < result.size(); i++) result[i] = all.src(static_cast<int>(i));
  }
  check_present(call, result);
  return result;
}

// The graph below `root` with every value replaced by its history; `now` maps each old node to its
// new one.  Copies of one tensor have the same history and are different all the same.
void Past::unfold(UOp root, const Histories& histories, Histories& now) const {
  const std::vector<UOp> order = below(std::span(&root, 1), histories);
  const Nodes read = read_by(order);
  FlatMap<const Node*, int> copies;  // values with the same history
  std::vector<UOp> needed;
  for (UOp u : order) {
    if (const UOp* history = histories.find(u.node())) {
      const UOp meaning = *now.find(history->node());
      const int copy = read.contains(history->node()) ? 0 : copies[history->node()]++;
      now.insert(u.node(), another(meaning, copy));
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

// The targets that the roots depend on, under all names that they have had.  Throws if it depends
// on one in a way that is not written down any more.
Past::Nodes Past::known_of(const Call& call, std::span<const UOp> roots,
                           std::span<const Target> targets, std::span<const UOp> reached,
                           const Histories& histories) const {
  Nodes known, read;
  for (UOp root : roots) read.insert(root.node());
  for (UOp u : reached) {
    known.insert(u.node());
    if (!passes_gradient(u)) continue;
    for (UOp s : u.sources()) read.insert(s.node());
  }
  const FlatMap<std::int64_t, std::int64_t> versions = versions_led_to(reached);
  Nodes wanted;
  for (const Target& t : targets) {
    // What was recorded from the target before it was computed stands on its history.
    const UOp* history = histories.find(t.node.node());
    const bool is_read_as_history = history && read.contains(history->node());
    const bool is_known = is_read_as_history || known.contains(t.node.node());
    if (is_known) wanted.insert(t.node.node());
    if (is_read_as_history) wanted.insert(history->node());
    const std::int64_t* version = versions.find(t.contents.tensor);
    if (!version) continue;
    const Shape shape(t.node.shape());
    call.require(*version != t.contents.version,
                 "this tensor depends on a target of shape {} through more than {} tensors that "
                 "were computed and dropped: detach() where the gradient may end, or compute "
                 "fewer of them",
                 shape, longest_history);
    const std::string place = is_known ? "" : place_of(t.assigned_at);
    call.require(is_known,
                 "a target of shape {} was assigned to{} after this tensor had been computed "
                 "from it: ask for the gradient before that",
                 shape, place);
  }
  return wanted;
}

// Of the tensors whose contents the nodes lead to: how new these are.
FlatMap<std::int64_t, std::int64_t> Past::versions_led_to(std::span<const UOp> reached) const {
  FlatMap<std::int64_t, std::int64_t> versions;
  const auto add = [&](const Contents& c) {
    if (c.tensor == 0) return;
    std::int64_t& version = *versions.insert(c.tensor, c.version).first;
    version = std::max(version, c.version);
  };
  FlatSet<const std::vector<Contents>*> seen;
  for (UOp u : reached) {
    if (const Former* former = former_.find(u.node())) add(former->contents);
    const ContentsSet* set = leads_.find(u.node());
    if (set && seen.insert(set->get())) std::ranges::for_each(**set, add);
  }
  return versions;
}

// Throws if the nodes read what is gone.
void Past::check_present(const Call& call, std::span<const UOp> nodes) const {
  if (former_.empty()) return;
  for (UOp u : toposort(nodes)) {
    const Former* former = gone(u);
    call.require(
        !former,
        "the gradient needs what a tensor of {} elements of {} held before it was assigned "
        "to{}: ask for the gradient before that, or assign to a copy",
        u.elements(), name_of(u.dtype()), former ? place_of(former->by) : "");
  }
}

// ---- what is kept -----------------------------------------------------------------------------

Past::Nodes Past::prune(std::span<const Live> live) {
  ContentsPool pool;
  Nodes seen = keep_reached(live, pool);
  erase_if(histories_, [&](const Node* value, UOp) { return !seen.contains(value); });
  erase_if(former_, [&](const Node* value, const auto&) { return !seen.contains(value); });
  erase_if(leads_, [&](const Node* node, const auto&) { return !seen.contains(node); });
  erase_if(stored_, [&](const Node* value, UOp node) {
    return !seen.contains(value) || !seen.contains(node.node());
  });
  return seen;
}

// Forgets the contents of tensors that are no more.
void Past::forget_dead(std::span<const Live> live, ContentsPool& pool) {
  if (former_.empty() && leads_.empty()) return;
  FlatSet<std::int64_t> tensors;
  for (const Live& l : live) tensors.insert(l.contents.tensor);
  for (auto& [node, former] : former_) {
    if (!tensors.contains(former.contents.tensor)) former.contents = Contents();
  }
  for (auto& [node, set] : leads_) set = pool.only(set, tensors);
  erase_if(leads_, [](const Node*, const ContentsSet& set) { return !set; });
}

void Past::drop_useless(std::span<const Live> live) {
  ContentsPool pool;
  forget_dead(live, pool);
  drop_useless_histories(live, pool);
  if (stored_.empty()) return;
  Nodes seen;
  below(nodes_of(live), histories_, seen);
  erase_if(stored_, [&](const Node*, UOp node) { return !seen.contains(node.node()); });
}

// Drops the histories through which no gradient comes from a live tensor to another, unless they
// can bring back what is gone.
void Past::drop_useless_histories(std::span<const Live> live, ContentsPool& pool) {
  if (histories_.empty()) return;
  std::vector<Live> asked(live.begin(), live.end());
  std::erase_if(asked, [](const Live& l) { return l.is_detached; });
  const std::vector<UOp> order = below(nodes_of(asked), histories_, passes_gradient);
  const Nodes leading = leading_to(wanted_of(asked, order), order, histories_);
  const FlatMap<const Node*, ContentsSet> led = led_to(order, leading, pool);
  erase_if(histories_, [&](const Node* value, UOp history) {
    if (leading.contains(history.node()) || is_gone(UOp(value))) return false;
    if (const ContentsSet* set = led.find(history.node())) {
      ContentsSet& leads = leads_[value];
      leads = pool.merged(leads, *set);
    }
    return true;
  });
}

// The nodes that live tensors have, or had before they were computed: what was recorded then reads
// those, and passes gradients on to them.  Only memory: others cannot be targets.
Past::Nodes Past::wanted_of(std::span<const Live> live, std::span<const UOp> order) const {
  const Nodes read = read_by(order, passes_gradient);
  const Nodes reading = nodes_reading_memory(nodes_of(live));
  Nodes wanted;
  for (const Live& l : live) {
    if (!reading.contains(l.node.node())) continue;
    wanted.insert(l.node.node());
    for (const Histories* names : {&histories_, &stored_}) {
      const UOp* name = names->find(l.node.node());
      if (name && read.contains(name->node())) wanted.insert(name->node());
    }
  }
  return wanted;
}

// The contents, none of them present, that gradients come to from nodes which do not lead to a live
// tensor.
FlatMap<const Node*, ContentsSet> Past::led_to(std::span<const UOp> order, const Nodes& leading,
                                               ContentsPool& pool) const {
  FlatMap<const Node*, ContentsSet> led;
  if (former_.empty() && leads_.empty()) return led;
  for (UOp u : order) {
    if (leading.contains(u.node())) continue;
    ContentsSet set;
    const auto add = [&](const ContentsSet* other) {
      if (other) set = pool.merged(set, *other);
    };
    add(leads_.find(u.node()));
    if (const Former* former = former_.find(u.node()); former && former->contents.tensor > 0) {
      const ContentsSet held = pool.shared(set_of({former->contents}));
      add(&held);
    }
    if (const UOp* history = histories_.find(u.node())) add(led.find(history->node()));
    if (passes_gradient(u)) {
      for (UOp s : u.sources()) add(led.find(s.node()));
    }
    if (set) led.insert(u.node(), std::move(set));
  }
  return led;
}

// The nodes that are reached from live ones, generation by generation of computed values.
Past::Nodes Past::keep_reached(std::span<const Live> live, ContentsPool& pool) {
  static const Histories none;
  Nodes seen;
  std::vector<UOp> too_old;
  std::vector<UOp> generation = nodes_of(live);
  for (int age = 0; !generation.empty(); age++) {
    std::vector<UOp> before;
    for (UOp u : below(generation, none, seen)) {
      const UOp* history = histories_.find(u.node());
      if (!history) continue;
      if (age < longest_history) {
        before.push_back(*history);
      } else {
        too_old.push_back(u);
      }
    }
    generation = std::move(before);
  }
  cut(too_old, live, pool);
  return seen;
}

// Drops the histories of the values, and remembers all contents of live tensors that they led to.
void Past::cut(std::span<const UOp> values, std::span<const Live> live, ContentsPool& pool) {
  if (values.empty()) return;
  FlatMap<const Node*, std::vector<Contents>> present;
  for (const Live& l : live) {
    present[l.node.node()].push_back(l.contents);
    if (const UOp* history = histories_.find(l.node.node())) {
      present[history->node()].push_back(l.contents);
    }
  }
  for (UOp value : values) {
    std::vector<Contents> found;
    for (UOp u : below(std::span(&value, 1), histories_, passes_gradient)) {
      const std::vector<Contents>* here = present.find(u.node());
      if (here) found.insert(found.end(), here->begin(), here->end());
      const Former* former = former_.find(u.node());
      if (former && former->contents.tensor > 0) found.push_back(former->contents);
      const ContentsSet* set = leads_.find(u.node());
      if (set) found.insert(found.end(), (*set)->begin(), (*set)->end());
    }
    histories_.erase(value.node());
    if (ContentsSet set = pool.shared(set_of(std::move(found)))) {
      leads_[value.node()] = std::move(set);
    }
  }
}

}  // namespace croze
