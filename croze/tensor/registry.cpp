// registry.cpp -- realizing tensors: what is computed together, in which order, and what is
// forgotten.
//
// Nodes are immutable, so a computed tensor gets a new node: the buffer that holds its value. Other
// live tensors may have been recorded from the old node.  They are not searched for; a table
// remembers where the value of each computed node stands, and a graph is rewritten by it when its
// own turn comes.
//
// Stores need more care.  A recorded node that reads a Buffer means the contents at the time of
// recording.  So when a graph that stores into a Buffer is run, every live tensor that reads this
// Buffer is run with it (the scheduler puts reads before the write), and the table is applied to
// all tensors and cleared, because a node recorded again afterwards would mean the new contents.
#include "tensor/registry.h"

#include <algorithm>

#include "base/error.h"
#include "graph/gradient/gradient.h"
#include "graph/rewrite.h"
#include "run/buffers.h"
#include "run/devices.h"
#include "run/execute.h"

namespace croze {
namespace {

// A collection costs a pass over the graph, so it waits until graph or memory has doubled.
constexpr std::size_t nodes_grown = 20'000;
constexpr std::int64_t bytes_grown = 64 << 20;

bool is_view_op(Op op) {
  return is_movement(op) || op == Op::Contiguous || op == Op::Detach ||
         op == Op::ContiguousBackward;
}

// The Buffer that a view looks at, through stores that have not happened yet; null if the node
// computes something.
UOp viewed_buffer(UOp node) {
  while (is_view_op(node.op()) || node.is(Op::After)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

// Whether the node is a view of a Buffer as it stands in memory.
bool looks_at_memory(UOp node) {
  while (is_movement(node.op()) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::Buffer);
}

// A view of a Buffer as it looks once its pending stores have happened.
UOp without_stores(UOp node) {
  std::vector<UOp> views;
  for (; !node.is(Op::Buffer); node = node.src(0)) {
    ensure(node.is(Op::After) || is_view_op(node.op()), "stored into {}, which is no view",
           info(node.op()).name);
    if (!node.is(Op::After)) views.push_back(node);
  }
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const UOp source[] = {node};
    node = node.graph().with_sources(*view, source);
  }
  return node;
}

}  // namespace

bool reads_memory(UOp node) {
  FlatSet<const Node*> seen;
  std::vector<UOp> stack{node};
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (u.is(Op::Buffer)) return true;
    if (!seen.insert(u.node())) continue;
    for (UOp s : u.sources()) stack.push_back(s);
  }
  return false;
}

UOp storage_of(UOp node) {
  while (node.is(Op::Reshape)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

// Leaked on purpose: tensors with static lifetime may outlive any other order of destruction.
Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

Registry::Registry() {
  for (TensorRecord* head : {&settled_, &dependents_}) head->previous = head->next = head;
}

// ---- lists ------------------------------------------------------------------------------------

bool Registry::is_settled(const TensorRecord& record) const {
  return record.owns_storage && storage_of(record.node);
}

void Registry::link(TensorRecord& list, TensorRecord& record) {
  record.previous = &list;
  record.next = list.next;
  list.next->previous = &record;
  list.next = &record;
}

void Registry::unlink(TensorRecord& record) {
  record.previous->next = record.next;
  record.next->previous = record.previous;
}

void Registry::add(TensorRecord& record) {
  link(is_settled(record) ? settled_ : dependents_, record);
}

void Registry::remove(TensorRecord& record) { unlink(record); }

void Registry::set_node(TensorRecord& record, UOp node, bool owns) {
  unlink(record);
  record.node = node;
  record.history = UOp();
  record.owns_storage = owns;
  add(record);
  for (TensorRecord* view : record.views) {
    set_node(*view, led_through(node, view->path.steps), false);
  }
}

std::vector<Tensor> Registry::dependents() {
  std::vector<Tensor> tensors;
  for (TensorRecord* r = dependents_.next; r != &dependents_; r = r->next) {
    // Another thread may be about to remove a tensor whose last handle is gone.
    std::int64_t references = r->references.load();
    while (references > 0 && !r->references.compare_exchange_weak(references, references + 1)) {
    }
    if (references > 0) tensors.push_back(TensorRecord::adopt(r));
  }
  return tensors;
}

// ---- what has been computed -------------------------------------------------------------------

std::vector<UOp> Registry::resolve(std::span<const UOp> roots) {
  std::vector<UOp> result(roots.begin(), roots.end());
  if (values_.empty()) return result;
  std::vector<std::pair<UOp, UOp>> replacements;
  FlatSet<const Node*> seen;
  std::vector<UOp> stack = result;
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (!seen.insert(u.node())) continue;
    if (const UOp* value = values_.find(u.node())) {
      replacements.emplace_back(u, *value);
      continue;
    }
    for (UOp s : u.sources()) stack.push_back(s);
  }
  if (replacements.empty()) return result;
  const UOp all = substitute(graph.sink(result), replacements);
  for (std::size_t i = 0; i < result.size(); i++) result[i] = all.src(static_cast<int>(i));
  return result;
}

template <typename F>
void Registry::for_each_record(F f) {
  for (TensorRecord* head : {&settled_, &dependents_}) {
    for (TensorRecord *r = head->next, *next = nullptr; r != head; r = next) {
      next = r->next;  // f may move r to the other ring
      f(*r);
    }
  }
}

void Registry::settle_values() {
  if (values_.empty()) return;
  std::vector<TensorRecord*> records;
  std::vector<UOp>
      nodes;  // and, for each, the sources of its history: that itself has been computed
  std::vector<UOp> sources;
  for_each_record([&](TensorRecord& r) {
    if (is_settled(r) && !r.history) return;
    sources.clear();
    if (r.history) {
      for (UOp s : r.history.sources()) sources.push_back(s);
    }
    records.push_back(&r);
    nodes.push_back(r.node);
    nodes.push_back(graph.sink(sources));
  });
  nodes = resolve(nodes);
  for (std::size_t i = 0; i < records.size(); i++) {
    TensorRecord& r = *records[i];
    UOp history = r.history;
    if (history) {
      sources.clear();
      for (UOp s : nodes[2 * i + 1].sources()) sources.push_back(s);
      history = graph.with_sources(history, sources);
    }
    if (r.node != nodes[2 * i]) set_node(r, nodes[2 * i], r.owns_storage);
    r.history = history;
  }
  values_.clear();
}

void Registry::forget_the_past() {
  std::vector<TensorRecord*> roots;
  for_each_record([&](TensorRecord& r) {
    r.history = UOp();
    if (!r.views.empty()) roots.push_back(&r);
  });
  settle_values();
  // Views that were computed hold copies of what was there before.
  for (TensorRecord* root : roots) set_node(*root, root->node, root->owns_storage);
}

void Registry::collect_if_grown() {
  if (graph.size() > 2 * nodes_kept_ + nodes_grown ||
      memory_use().bytes > 2 * bytes_kept_ + bytes_grown) {
    collect();
  }
}

void Registry::collect() {
  settle_values();
  std::vector<UOp> roots;
  for_each_record([&](TensorRecord& r) {
    roots.push_back(r.node);
    if (r.history) roots.push_back(r.history);
  });
  graph.collect(roots, [](UOp buffer, void*) { release_buffer(buffer.buffer_id()); });
  nodes_kept_ = graph.size();
  bytes_kept_ = memory_use().bytes;
}

// ---- realize ----------------------------------------------------------------------------------

struct Registry::Batch {
  std::vector<TensorRecord*> records;
  std::vector<UOp> roots;   // one per record
  std::vector<UOp> stores;  // the After nodes that the roots reach
};

void Registry::realize(std::span<TensorRecord* const> records) {
  check(
      !recording,
      "a tensor was computed or read while a step is captured: in a captured function nothing has "
      "a value yet; return the tensor from it and read the result");
  collect_if_grown();
  Batch batch;
  FlatSet<const TensorRecord*> seen;
  for (TensorRecord* r : records) {
    if (is_settled(*r) || r->node.elements() == 0 || !seen.insert(r)) continue;
    batch.records.push_back(r);
    batch.roots.push_back(r->node);
  }
  if (batch.records.empty()) return;
  batch.roots = resolve(batch.roots);
  add_readers(batch);
  run(batch);
  if (!batch.stores.empty()) forget_the_past();
}

// Completes a batch that stores: with every tensor that reads what is overwritten, and so on until
// no tensor is left that would see a wrong value.
void Registry::add_readers(Batch& batch) {
  for (std::size_t known = 0;; known = batch.stores.size()) {
    FlatSet<const Node*> written;
    batch.stores.clear();
    for (UOp u : toposort(batch.roots)) {
      if (!u.is(Op::After)) continue;
      batch.stores.push_back(u);
      for (UOp effect : u.sources()) {
        if (effect.is(Op::Store)) written.insert(viewed_buffer(effect.src(0)).node());
      }
    }
    if (batch.stores.size() == known) return;
    settle_values();
    // What was computed before and is written now is copied first.
    for (UOp& root : batch.roots) {
      if (!looks_at_memory(root) || !written.contains(viewed_buffer(root).node())) continue;
      root = graph.make(Op::Contiguous, root.dtype(), {root});
    }
    for (TensorRecord* reader : readers_of(written, batch)) {
      const UOp node = reader->node;
      batch.records.push_back(reader);
      batch.roots.push_back(viewed_buffer(node) ? graph.make(Op::Contiguous, node.dtype(), {node})
                                                : node);
    }
  }
}

// The tensors outside the batch that reach a written Buffer.  An owner whose pending store is
// itself part of the batch is none: it wants the new contents.
std::vector<TensorRecord*> Registry::readers_of(const FlatSet<const Node*>& written,
                                                const Batch& batch) {
  FlatSet<const TensorRecord*> in_batch;
  for (const TensorRecord* r : batch.records) in_batch.insert(r);
  FlatSet<const Node*> stores;
  for (UOp u : batch.stores) stores.insert(u.node());
  std::vector<TensorRecord*> others;
  std::vector<UOp> nodes;
  for (TensorRecord* r = dependents_.next; r != &dependents_; r = r->next) {
    const bool is_writer = r->owns_storage && stores.contains(r->node.node());
    // A view follows its root.
    if (in_batch.contains(r) || is_writer || r->root || r->node.elements() == 0) continue;
    others.push_back(r);
    nodes.push_back(r->node);
  }

  FlatSet<const Node*> touched;
  for (UOp u : toposort(nodes)) {
    bool reads = written.contains(u.node());
    for (UOp s : u.sources()) reads = reads || touched.contains(s.node());
    if (reads) touched.insert(u.node());
  }
  std::erase_if(others, [&](TensorRecord* r) { return !touched.contains(r->node.node()); });
  return others;
}

void Registry::run(Batch& batch) {
  std::vector<UOp> roots = batch.roots;
  FlatSet<const Node*> seen;
  for (std::size_t i = 0; i < roots.size(); i++) {
    const int device = batch.records[i]->device;
    if (reads_memory(roots[i])) continue;
    // Constants that look alike are different tensors: each gets memory of its own.  And they run
    // on the default device unless they are copied to another.
    if (!seen.insert(roots[i].node())) {
      roots[i] = croze::realize(std::span(&roots[i], 1))[0];
    }
    if (device >= 0 && device != default_device()) {
      roots[i] = graph.make(Op::Copy, roots[i].dtype(), {roots[i]}, Arg(device));
    }
  }
  roots.insert(roots.end(), batch.stores.begin(), batch.stores.end());
  const std::vector<UOp> results = croze::realize(roots);

  for (UOp store : batch.stores) values_.insert(store.node(), without_stores(store));
  FlatSet<const Node*> claimed;
  for (std::size_t i = 0; i < batch.records.size(); i++) {
    const UOp root = batch.roots[i];
    const UOp result = root.is(Op::After) ? without_stores(root) : results[i];
    const UOp buffer = viewed_buffer(result);
    ensure(static_cast<bool>(buffer), "realize gave {}, which is no view of a buffer",
           info(result.op()).name);
    TensorRecord& record = *batch.records[i];
    const bool owned_before = record.owns_storage && viewed_buffer(record.node) == buffer;
    const bool is_new = buffer != viewed_buffer(root) && claimed.insert(buffer.node());
    const bool has_past = !viewed_buffer(root) && reads_memory(root);
    if (has_past) values_.insert(root.node(), result);
    if (record.device < 0) record.device = buffer.buffer_device();
    set_node(record, result, owned_before || is_new);
    if (has_past) record.history = root;
  }
}

// ---- gradient ---------------------------------------------------------------------------------

namespace {

using Past = FlatMap<const Node*, UOp>;

// The graph below `root` with every node of `past` replaced by what it was computed from; `now`
// maps each old node to its new one.
void unfold_past(UOp root, const Past& past, Past& now) {
  std::vector<UOp> stack{root};
  std::vector<UOp> needed;
  while (!stack.empty()) {
    const UOp u = stack.back();
    needed.clear();
    if (const UOp* history = past.find(u.node())) {
      needed.push_back(*history);
    } else {
      for (UOp s : u.sources()) needed.push_back(s);
    }
    bool ready = true, changed = false;
    for (UOp& s : needed) {
      const UOp* known = now.find(s.node());
      if (!known) stack.push_back(s);
      ready = ready && known;
      changed = changed || (known && *known != s);
      if (known) s = *known;
    }
    if (!ready) continue;
    stack.pop_back();
    const bool is_past = past.contains(u.node());
    now.insert(u.node(), is_past ? needed[0] : changed ? u.graph().with_sources(u, needed) : u);
  }
}

// A target stands for itself, whatever it was computed from, unless that leads to another target.
void forget_unless_needed(std::span<const UOp> targets, Past& past) {
  std::vector<UOp> forgotten;
  for (UOp target : targets) {
    FlatSet<const Node*> seen;
    std::vector<UOp> stack;
    if (const UOp* history = past.find(target.node())) stack.push_back(*history);
    bool needed = false;
    while (!stack.empty() && !needed) {
      const UOp u = stack.back();
      stack.pop_back();
      if (!seen.insert(u.node())) continue;
      needed = std::find(targets.begin(), targets.end(), u) != targets.end();
      if (const UOp* history = past.find(u.node())) stack.push_back(*history);
      for (UOp s : u.sources()) stack.push_back(s);
    }
    if (!needed) forgotten.push_back(target);
  }
  for (UOp target : forgotten) past.erase(target.node());
}

}  // namespace

std::vector<UOp> Registry::gradient(UOp loss, std::span<const UOp> targets) {
  Past past, now;
  for_each_record([&](TensorRecord& r) {
    if (r.history) past.insert(r.node.node(), r.history);
  });
  forget_unless_needed(targets, past);
  if (past.empty()) return croze::gradient(loss, targets);

  unfold_past(loss, past, now);
  const auto now_of = [&](UOp u) {
    const UOp* v = now.find(u.node());
    return v ? *v : u;
  };
  std::vector<UOp> new_targets;
  for (UOp t : targets) new_targets.push_back(now_of(t));
  std::vector<UOp> result = croze::gradient(now_of(loss), new_targets);
  // What is in memory already is read there.
  std::vector<std::pair<UOp, UOp>> computed;
  for (const auto& [node, history] : past) {
    if (now.contains(node)) computed.emplace_back(now_of(UOp(node)), UOp(node));
  }
  if (computed.empty()) return result;
  const UOp all = substitute(graph.sink(result), computed);
  for (std::size_t i = 0; i < result.size(); i++) result[i] = all.src(static_cast<int>(i));
  return result;
}

}  // namespace croze
