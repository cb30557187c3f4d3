// registry.cpp -- realizing tensors: what is computed together and in which order.
//
// Nodes are immutable, so a computed tensor gets a new node: the buffer that holds its value. Other
// live tensors may have been recorded from the old node.  They are not searched for; a table
// remembers where the value of each computed node stands, and a graph is rewritten by it when its
// own turn comes.
//
// A Buffer node names contents, not memory.  When memory is overwritten it gets another Buffer, and
// its owner the node of that.  So a node means the same for ever, on whichever thread and however
// long ago it was recorded, and nothing has to be forgotten because of a store.  But contents that
// are gone cannot be read.  So when a graph that stores into a Buffer is run, every live tensor
// that reads this Buffer is run with it (the scheduler puts reads before the write).  What remains
// of the old Buffer is its place in the histories of computed values (past.h).
//
// A tensor that is dropped leaves its Buffer to whatever was recorded from it.  Whether anything
// was is seen by a walk over all that live tensors reach; it is taken when the memory that it may
// free is worth the way.
#include "croze/tensor/registry.h"

#include <algorithm>
#include <optional>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/run/explain.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/storage.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

// Beside the double of what was kept, so that small programs are left alone.
constexpr std::int64_t bytes_grown = 64 << 20;

// A walk over what live tensors reach takes some 500 cycles a node, as long as a kilobyte of fresh
// memory takes to be faulted in.
constexpr std::int64_t least_bytes_to_free = 64 << 10;
constexpr std::int64_t bytes_to_free_by_node = 1 << 10;

const TensorRecord& root_of(const TensorRecord& record) {
  return record.root ? *record.root : record;
}

std::int64_t bytes_of(UOp buffer) { return buffer.buffer_elements() * size_of(buffer.dtype()); }

// Whether the node is what a store leaves, or a view of that.
bool looks_at_store(UOp node) {
  while (is_movement(node.op()) || node.is(Op::Detach)) node = node.src(0);
  return node.is(Op::After);
}

// What the copy is one of.  That of what a store leaves is none of its results: it stays a copy.
UOp without_copy(UOp root) {
  return root.is(Op::Contiguous) && !root.src(0).is(Op::After) ? root.src(0) : root;
}

// The stores whose results no other of them overwrites.
std::vector<UOp> last_of(std::span<const UOp> stores) {
  FlatSet<const Node*> followed;
  for (UOp store : stores) {
    UOp before = store.src(0);
    while (is_view_op(before.op())) before = before.src(0);
    followed.insert(before.node());
  }
  std::vector<UOp> last;
  for (UOp store : stores) {
    if (!followed.contains(store.node())) last.push_back(store);
  }
  return last;
}

}  // namespace

// Named in docs/architecture.md as global state.
thread_local std::optional<Capturing::Mode> Capturing::mode_;

Capturing::Capturing(Computes computes, std::span<const Tensor> inputs) : around_(mode_) {
  mode_ = Mode{computes, inputs};
}
Capturing::~Capturing() { mode_ = around_; }
bool Capturing::is_active() { return mode_.has_value(); }

bool Capturing::may_compute(const Tensor& t) {
  return !mode_ || (mode_->computes == Computes::Constants && !reads_input(t));
}

bool Capturing::reads_input(const Tensor& t) {
  if (!mode_) return false;
  const GraphLock lock;
  const UOp root = t.node();
  return std::ranges::any_of(toposort(std::span(&root, 1)), [](UOp u) {
    if (!u.is(Op::Buffer)) return false;
    return is_stand_in(u.buffer_id()) || std::ranges::any_of(mode_->inputs, [=](const Tensor& x) {
             return storage_of(x.node()) == u;
           });
  });
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

// A view of memory stays one: a copy of its value would not follow assignments.
bool Registry::is_seen_in_memory(const TensorRecord& record) const {
  return record.root && looks_at_memory(record.node);
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
  if (record.contents.tensor == 0) record.contents.tensor = ++tensors_made_;
  link(is_settled(record) ? settled_ : dependents_, record);
}

void Registry::remove(TensorRecord& record) {
  unlink(record);
  is_any_dropped_ = true;
  if (record.is_given_away) return release_buffer(viewed_buffer(record.node).buffer_id());
  if (record.is_unshared) return spare.put(viewed_buffer(record.node));
  if (record.owns_storage) leave(viewed_buffer(record.node), record.borrows);
}

// The owner of a Buffer has no use for it any more.
void Registry::leave(UOp buffer, bool is_borrowed) {
  if (!buffer || !orphans_.insert(buffer.node())) return;
  const std::int64_t bytes = bytes_of(buffer);
  bytes_left_ += is_borrowed ? std::max(bytes, least_bytes_to_free) : bytes;
}

void Registry::set_node(TensorRecord& record, UOp node, bool owns) {
  const UOp before = record.owns_storage ? viewed_buffer(record.node) : UOp();
  if (before && viewed_buffer(node) != before) leave(before, record.borrows);
  replace_node(record, node, owns);
}

void Registry::leave_contents(TensorRecord& record, Location by) {
  const UOp buffer = record.owns_storage ? viewed_buffer(record.node) : UOp();
  if (buffer || reads_memory(record.node)) {
    past_.left(buffer ? buffer : record.node, record.contents, by);
  }
  record.contents.version++;
  record.assigned_at = by;
}

void Registry::replace_node(TensorRecord& record, UOp node, bool owns) {
  unlink(record);
  record.node = node;
  record.is_computed = false;
  record.is_unshared = false;
  record.owns_storage = owns;
  add(record);
  for (TensorRecord* view : record.views) {
    set_node(*view, led_through(node, view->path.steps), false);
  }
}

std::vector<Tensor> Registry::dependents() {
  std::vector<Tensor> tensors;
  for (TensorRecord* r = dependents_.next; r != &dependents_; r = r->next) {
    if (Tensor t = TensorRecord::share(*r); t.defined()) tensors.push_back(std::move(t));
  }
  return tensors;
}

std::vector<Tensor> Registry::owners_of(std::span<const UOp> buffers) {
  FlatMap<const Node*, Tensor> owners;
  for (UOp b : buffers) owners.insert(b.node(), Tensor());
  for_each_record([&](TensorRecord& r) {
    const UOp buffer = r.owns_storage ? viewed_buffer(r.node) : UOp();
    Tensor* owner = buffer ? owners.find(buffer.node()) : nullptr;
    if (owner) *owner = TensorRecord::share(r);
  });
  std::vector<Tensor> result;
  for (UOp b : buffers) {
    Tensor owner = *owners.find(b.node());
    if (!owner.defined()) {
      owner = wrap(b, b.buffer_device());
      own_storage(owner);
    }
    result.push_back(std::move(owner));
  }
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

// ---- memory -----------------------------------------------------------------------------------

void Registry::collect_if_grown() {
  if (has_grown() || memory_use().bytes > 2 * bytes_kept_ + bytes_grown) collect();
}

void Registry::collect() {
  const Past::Nodes seen = free_unseen();
  std::vector<UOp> roots;
  for_each_record([&](TensorRecord& r) { roots.push_back(r.node); });
  past_.for_each_recorded([&](UOp history) { roots.push_back(history); });
  drop_values([&](UOp node, UOp) { return !seen.contains(node.node()); });
  spare.clear();
  graph.collect(roots, [](UOp buffer, void*) { release_buffer(buffer.buffer_id()); });
  most_nodes_ = 2 * graph.size() + nodes_grown;
  bytes_kept_ = memory_use().bytes;
}

template <typename Condition>
void Registry::drop_values(Condition condition) {
  std::vector<const Node*> dropped;
  for (const auto& [node, value] : values_) {
    if (condition(UOp(node), value)) dropped.push_back(node);
  }
  for (const Node* node : dropped) values_.erase(node);
}

void Registry::free_unseen_if_worthwhile() {
  const std::int64_t bytes = bytes_left_ + (is_any_dropped_ ? bytes_orphaned_ : 0);
  if (bytes >= std::max(least_bytes_to_free, bytes_to_free_by_node * nodes_seen_)) free_unseen();
}

void Registry::tidy() {
  free_unseen_if_worthwhile();
  collect_if_grown();
}

// Returns what is seen.
Past::Nodes Registry::free_unseen() {
  settle_records();
  std::vector<Past::Live> live;
  for_each_record([&](TensorRecord& r) {
    live.push_back({r.node, root_of(r).contents, r.is_seen_detached()});
  });
  past_.drop_useless(live);  // most of it, which then need not be settled
  settle_past();
  Past::Nodes seen = past_.prune(live);
  drop_values([&](UOp, UOp value) { return !seen.contains(value.node()); });

  Nodes orphans;
  bytes_orphaned_ = 0;
  for (const Node* buffer : orphans_) {
    if (seen.contains(buffer)) {
      orphans.insert(buffer);
      bytes_orphaned_ += bytes_of(UOp(buffer));
    } else {
      release_buffer(UOp(buffer).buffer_id());
    }
  }
  orphans_ = std::move(orphans);
  bytes_left_ = 0;
  is_any_dropped_ = false;
  nodes_seen_ = seen.size();
  given.drop_unseen(seen);
  return seen;
}

// ---- realize ----------------------------------------------------------------------------------

struct Registry::Batch {
  std::vector<TensorRecord*> records;
  std::vector<UOp> roots;   // one per record
  std::vector<UOp> stores;  // the After nodes that the roots reach
  Nodes written;            // the Buffers that they store into

  // Tensors that read what is to be overwritten.
  void add(std::span<TensorRecord* const> readers) {
    for (TensorRecord* r : readers) {
      records.push_back(r);
      roots.push_back(own_value(*r, r->node));
    }
  }

  // An owner that waits for a store has it performed; whoever else looks on is given a copy.
  static UOp own_value(const TensorRecord& record, UOp node) {
    const bool is_writer = record.owns_storage && node.is(Op::After);
    if (!viewed_buffer(node) || is_writer) return node;
    return node.graph().make(Op::Contiguous, node.dtype(), {node});
  }
};

void Registry::realize(std::span<TensorRecord* const> records) {
  check(
      std::ranges::all_of(
          records, [](TensorRecord* r) { return Capturing::may_compute(TensorRecord::share(*r)); }),
      "a tensor was computed or read while a step is captured: in a captured function nothing has "
      "a value yet; return the tensor from it and read the result");
  std::unique_lock lock(mutex);
  const bool may_let_go = mutex.depth() == 1;
  tidy();
  // While a plan is made without the lock, others may change what there is to do.  If they always
  // do, it is made with the lock in the end.
  for (int attempts = may_let_go ? 3 : 0;; attempts--) {
    const Batch batch = batch_of(records);
    if (batch.records.empty()) return;
    const std::vector<UOp> roots = roots_of(batch);
    if (is_watching()) return realize_watched(batch, roots);
    auto prepared = find_prepared(roots);
    if (!prepared) {
      const CanonicalGraph form = noted_canonical_graph(roots);
      prepared = find_prepared(form);
      if (!prepared && attempts > 0) {
        lock.unlock();
        prepare(form);
        lock.lock();
        continue;
      }
      if (!prepared) prepared = prepare(form);
    }
    BoundRun run = bind(batch, roots, *prepared);
    if (may_let_go) lock.unlock();
    return run.launch();
  }
}

Explanation Registry::explain(std::span<TensorRecord* const> records) {
  check(!Capturing::is_active(), "explain() was called while a step is captured: ask the step");
  const std::lock_guard lock(mutex);
  const Batch batch = batch_of(records);
  if (batch.records.empty()) return {};
  return explanation_of(noted_canonical_graph(roots_of(batch)));
}

// With the lock from the beginning to the end: looking is slow anyhow.
void Registry::realize_watched(const Batch& batch, std::span<const UOp> roots) {
  Watch watch(roots);
  const auto prepared = prepare(watch.roots());
  BoundRun run = bind(batch, roots, *prepared);
  run.launch();
  if (const std::optional<Error> found = watch.found(run.values())) {
    forget_values();  // so that whoever asks again is told again
    throw *found;
  }
}

Registry::Batch Registry::batch_of(std::span<TensorRecord* const> records) {
  Batch batch;
  FlatSet<const TensorRecord*> seen;
  for (TensorRecord* asked : records) {
    TensorRecord* r = &asked->computed_as();
    if (is_settled(*r) || is_seen_in_memory(*asked)) continue;
    if (r->node.elements() == 0 || !seen.insert(r)) continue;
    batch.records.push_back(r);
    batch.roots.push_back(r->node);
  }
  batch.roots = resolve(batch.roots);
  // What a store has left may be stored over in the same run.
  for (std::size_t i = 0; i < batch.roots.size(); i++) {
    UOp& root = batch.roots[i];
    if (looks_at_store(root)) root = Batch::own_value(*batch.records[i], root);
  }
  add_readers(batch);
  return batch;
}

// Completes a batch that stores: with every tensor that reads what is overwritten, and so on until
// no tensor is left that would see a wrong value.
void Registry::add_readers(Batch& batch) {
  NodeSet seen;
  for (std::size_t walked = 0;;) {
    const std::size_t known = batch.stores.size();
    const auto added = std::span<const UOp>(batch.roots).subspan(walked);
    walked = batch.roots.size();
    for (UOp u : toposort(added, seen)) {
      if (!u.is(Op::After)) continue;
      batch.stores.push_back(u);
      for (UOp effect : u.sources()) {
        if (effect.is(Op::Store)) batch.written.insert(viewed_buffer(effect.src(0)).node());
      }
    }
    if (batch.stores.size() == known) return;
    settle();
    // What was computed before and is written now is copied first.
    for (UOp& root : batch.roots) {
      if (!looks_at_memory(root) || !batch.written.contains(viewed_buffer(root).node())) continue;
      root = graph.make(Op::Contiguous, root.dtype(), {root});
    }
    batch.add(readers_of(batch.written, batch));
  }
}

void Registry::compute_readers(const Nodes& buffers) {
  settle();
  Batch batch;
  batch.add(readers_of(buffers, batch));
  if (batch.records.empty()) return;
  const std::vector<UOp> roots = roots_of(batch);
  bind(batch, roots, *prepare(roots)).launch();
}

// The tensors outside the batch that reach a written Buffer.  An owner whose pending store is
// itself part of the batch is none: it wants the new contents.
std::vector<TensorRecord*> Registry::readers_of(const Nodes& written, const Batch& batch) {
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

  NodeSet touched;
  for (UOp u : toposort(nodes)) {
    bool reads = written.contains(u.node());
    for (UOp s : u.sources()) reads = reads || touched.contains(s.node());
    if (reads) touched.insert(u.node());
  }
  std::erase_if(others, [&](TensorRecord* r) { return !touched.contains(r->node.node()); });
  return others;
}

// What is given to the scheduler: for each tensor its root, and the stores.
std::vector<UOp> Registry::roots_of(const Batch& batch) {
  std::vector<UOp> roots = batch.roots;
  const NodeSet reading = nodes_reading_memory(roots);
  FlatSet<const Node*> seen;
  for (std::size_t i = 0; i < roots.size(); i++) {
    const int device = batch.records[i]->device;
    if (reading.contains(roots[i].node())) continue;
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
  return roots;
}

// Binds the batch to memory and gives its tensors the nodes of their values, as if they were
// computed: who reads them waits for the launch.
BoundRun Registry::bind(const Batch& batch, std::span<const UOp> roots,
                        const PreparedRun& prepared) {
  BoundRun run(prepared, inputs_of(prepared), graph);
  const std::vector<UOp> results = run.results(roots);

  const FlatMap<const Node*, UOp> now = renamed(batch.written);
  for (UOp store : last_of(batch.stores)) {
    const UOp contents = without_stores(store, now);
    past_.stored(store, contents);
    past_.computed(contents, store);
  }
  const NodeSet reading = nodes_reading_memory(batch.roots);
  Nodes claimed;
  for (const auto& [before, after] : now) claimed.insert(after.node());
  for (std::size_t i = 0; i < batch.records.size(); i++) {
    const UOp root = batch.roots[i];
    const UOp result = without_stores(root.is(Op::After) ? root : results[i], now);
    const UOp buffer = viewed_buffer(result);
    TensorRecord& record = *batch.records[i];
    if (is_seen_in_memory(record)) {
      if (viewed_buffer(record.node) != buffer) leave(buffer, false);
      continue;
    }
    const bool owned_before = record.owns_storage && viewed_buffer(record.node) == buffer;
    const bool is_new = buffer != viewed_buffer(root) && claimed.insert(buffer.node());
    if (record.device < 0) record.device = buffer.buffer_device();
    set_node(record, result, owned_before || is_new);
    const bool is_read = reading.contains(root.node());
    record.is_computed = buffer != viewed_buffer(root) && is_read;
    if (record.is_computed) past_.computed(result, root);
    if (record.is_computed && viewed_buffer(root)) past_.stored(without_copy(root), result);
    // A copy of memory is asked for as memory of its own: it is not shared.
    if (!viewed_buffer(root) && is_read) {
      values_.insert(root.node(), result);
      is_unsettled_ = true;
    }
  }
  return run;
}

// New names for memory that has been written: by the old ones.  Gives them to the owners.
FlatMap<const Node*, UOp> Registry::renamed(const Nodes& written) {
  FlatMap<const Node*, UOp> now;
  std::vector<TensorRecord*> owners;
  for (TensorRecord* r = dependents_.next; r != &dependents_; r = r->next) {
    const UOp buffer = r->owns_storage ? viewed_buffer(r->node) : UOp();
    if (!buffer || !written.contains(buffer.node())) continue;
    owners.push_back(r);
    now.insert(buffer.node(), rename(buffer, r->assigned_at));
  }
  for (TensorRecord* r : owners) {
    replace_node(*r, without_stores(r->node, now), true);
    r->is_computed = true;
  }
  for (const Node* buffer : written) {
    if (now.contains(buffer)) continue;
    // The owner is gone.
    now.insert(buffer, rename(UOp(buffer), Location()));
    leave(*now.find(buffer), false);
  }
  drop_values([&](UOp, UOp value) { return now.contains(viewed_buffer(value).node()); });
  return now;
}

void Registry::overwritten(std::span<const Overwritten> all) {
  FlatMap<const Node*, UOp> now;
  for (const Overwritten& written : all) {
    TensorRecord& r = *written.owner;
    if (r.is_unshared) continue;  // nobody has seen the contents that are gone: the name may stay
    const UOp buffer = viewed_buffer(r.node);
    leave_contents(r, r.assigned_at);
    now.insert(buffer.node(), rename(buffer, r.assigned_at));
    replace_node(r, without_stores(r.node, now), true);
    forget_past_of_parts(written, buffer);
    r.is_unshared = r.views.empty() && !past_.knows(r.node);
  }
  if (now.empty()) return;
  drop_values([&](UOp, UOp value) { return now.contains(viewed_buffer(value).node()); });
}

void Registry::end_value(TensorRecord& record, Location by) {
  if (record.owns_storage) leave(viewed_buffer(record.node), record.borrows);
  give_away(record, by);
}

// The tensor keeps its kind, and a Buffer that never has memory.
void Registry::give_away(TensorRecord& record, Location by) {
  const UOp node = record.node;
  const int device = record.device < 0 ? default_device() : record.device.load();
  const UOp nothing = new_stand_in(graph, node.dtype(), node.elements(), device);
  replace_node(record, reshape_node(nothing, node.shape()), true);
  record.assigned_at = by;
  record.is_given_away = true;
}

UOp Registry::take_memory(TensorRecord& record, Location by) {
  const UOp buffer = viewed_buffer(record.node);
  leave_contents(record, by);
  const UOp now = rename(buffer, by);
  drop_values([&](UOp, UOp value) { return viewed_buffer(value) == buffer; });
  give_away(record, by);
  return now;
}

UOp Registry::rename(UOp buffer, Location by) {
  const UOp now = renamed_buffer(buffer);
  past_.overwritten(buffer, by);
  orphans_.erase(buffer.node());
  return now;
}

// ---- gradient ---------------------------------------------------------------------------------

Past::Target Registry::target_of(const TensorRecord& record) {
  const TensorRecord& root = root_of(record);
  return {record.node, root.contents, root.assigned_at};
}

}  // namespace croze
