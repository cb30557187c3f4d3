// capture.cpp -- tracing a step, and replaying it.
//
// A trace is the graph that the function recorded over Buffers: stand-ins for the inputs, which a
// replay replaces by the Buffers of the new inputs, and all others, which stay.  The first call
// also runs what it traced, in the ordinary way, so that tensors which escaped from the function
// are computed like any others.
//
// Replays write to memory that tensors outside know.  Before each, every live tensor that was
// recorded from the old contents is computed; after it the recorder is told to reuse nothing.
#include "jit/capture.h"

#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/rewrite.h"
#include "run/buffers.h"
#include "tensor/record.h"
#include "tensor/registry.h"

namespace croze {
namespace {

// Marks the default tensor graph as being captured while it lives.
class Recording {
 public:
  Recording() { Registry::instance().recording = true; }
  ~Recording() { Registry::instance().recording = false; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

bool is_view(UOp node) {
  return is_movement(node.op()) || node.is(Op::Contiguous) || node.is(Op::Detach) ||
         node.is(Op::ContiguousBackward);
}

// The Buffer at the end of a chain of views and stores; null if the node computes something.
UOp viewed_buffer(UOp node) {
  while (is_view(node) || node.is(Op::After)) node = node.src(0);
  return node.is(Op::Buffer) ? node : UOp();
}

void realize_all(std::span<const Tensor> tensors) {
  std::vector<TensorRecord*> records;
  for (const Tensor& t : tensors) records.push_back(&TensorRecord::of(t));
  Registry::instance().realize(records);
}

bool has_pending_store(const Tensor& t) {
  return TensorRecord::of(t).owns_storage && !storage_of(t.node());
}

// The live tensors that wait for a store into their memory.
std::vector<Tensor> pending_stores() {
  std::vector<Tensor> tensors = Registry::instance().dependents();
  std::erase_if(tensors, [](const Tensor& t) { return !has_pending_store(t); });
  return tensors;
}

// Computes every live tensor that is not yet computed and depends on memory, so that a trace does
// not compute it again and again.
void compute_pending() {
  std::vector<Tensor> tensors = Registry::instance().dependents();
  std::erase_if(tensors, [](const Tensor& t) {
    return !has_pending_store(t) && (viewed_buffer(t.node()) || !reads_memory(t.node()));
  });
  realize_all(tensors);
  Registry::instance().settle_values();
}

// Computes every live tensor that reads one of the Buffers, views of them included.
void compute_readers(const FlatSet<const Node*>& written) {
  const std::vector<Tensor> tensors = Registry::instance().dependents();
  std::vector<UOp> nodes;
  for (const Tensor& t : tensors) nodes.push_back(t.node());
  FlatSet<const Node*> touched;
  for (UOp u : toposort(nodes)) {
    bool reads = written.contains(u.node());
    for (UOp s : u.sources()) reads = reads || touched.contains(s.node());
    if (reads) touched.insert(u.node());
  }
  std::vector<Tensor> readers;
  for (std::size_t i = 0; i < tensors.size(); i++) {
    // A view follows its root.
    if (!touched.contains(nodes[i].node()) || TensorRecord::of(tensors[i]).root) continue;
    if (viewed_buffer(nodes[i])) {
      const UOp copy = tensor_graph().make(Op::Contiguous, nodes[i].dtype(), {nodes[i]});
      Registry::instance().set_node(TensorRecord::of(tensors[i]), copy, false);
    }
    readers.push_back(tensors[i]);
  }
  realize_all(readers);
}

// Takes back stores that have not happened.
void undo_stores() {
  for (const Tensor& t : pending_stores()) {
    const UOp buffer = reshape_node(viewed_buffer(t.node()), t.shape());
    Registry::instance().set_node(TensorRecord::of(t), buffer, true);
  }
}

Tensor copy_of(const Tensor& x) {
  return Tensor::from_bytes(x.to_bytes(), x.dtype(), x.shape(),
                            {.dtype = std::nullopt, .device = x.device()});
}

// A tensor over a Buffer of its own with the value of x.
Tensor in_memory(const Tensor& x, const FlatSet<const Node*>& written) {
  if (x.numel() == 0) return x;
  Tensor t = x;
  t.realize();
  const UOp buffer = storage_of(t.node());
  if (!buffer || buffer.elements() != t.numel() || written.contains(buffer.node()))
    return copy_of(t);
  return t;
}

}  // namespace

bool is_capturing() {
  GraphLock lock;
  return Registry::instance().recording;
}

// What a traced step keeps.
struct Step::Trace {
  struct Input {
    Shape shape;
    DType dtype;
    std::string device;
    UOp buffer;  // the stand-in; null if the function has no use for this input
  };

  std::vector<Input> inputs;
  std::shared_ptr<const PreparedRun> prepared;
  std::vector<UOp> random_keys;  // to draw anew, in the order in which they were drawn
  FlatSet<const Node*> written;  // Buffers of tensors that the step assigns to
  std::vector<Shape> results;
  std::vector<Tensor> kept_alive;  // over every Buffer of the trace

  void remember_inputs(std::span<const Tensor> given);
  void prepare(std::span<const Tensor> results, std::span<const Tensor> assigned);
  void check_inputs(std::span<const Tensor> given) const;
};

Step::Step() = default;
Step::~Step() = default;
Step::Step(Step&&) noexcept = default;
Step& Step::operator=(Step&&) noexcept = default;

std::vector<Tensor> Step::run(std::span<const Tensor> inputs, Function function) {
  GraphLock lock;
  check(!is_capturing(), "a captured step was called while another one is captured");
  return trace_ ? replay(inputs) : trace(inputs, function);
}

RunSummary Step::summary() const {
  check(trace_ != nullptr, "a captured step has no summary before its first call");
  return summary_of(*trace_->prepared);
}

// ---- tracing ----------------------------------------------------------------------------------

namespace {

// The result as a tensor of its own: one that is memory of another tensor is copied, because the
// next call may overwrite it.
Tensor new_result(const Tensor& t) {
  check(t.defined(), "a captured function returned a tensor that is not defined");
  const UOp node = t.node();
  if (!viewed_buffer(node)) return wrap_like(t, node);
  return wrap_like(t, tensor_graph().make(Op::Contiguous, node.dtype(), {node}));
}

// Live tensors without memory of their own, and what they are now.
struct Rootless {
  std::vector<Tensor> tensors;
  std::vector<UOp> nodes;

  Rootless() {
    for (Tensor& t : Registry::instance().dependents()) {
      nodes.push_back(t.node());
      tensors.push_back(std::move(t));
    }
  }

  // A tensor that lives on and is given another value must have memory to carry it to the next
  // call.
  void check_unassigned() const {
    for (std::size_t i = 0; i < tensors.size(); i++) {
      check(tensors[i].node() == nodes[i],
            "a captured function assigns to a tensor of shape {} that has no memory of its own (a "
            "constant or a view): realize() it, or make it contiguous(), before",
            to_text(tensors[i].shape()));
    }
  }
};

}  // namespace

std::vector<Tensor> Step::trace(std::span<const Tensor> inputs, Function function) {
  compute_pending();
  auto trace = std::make_unique<Trace>();
  std::vector<Tensor> stand_ins;
  for (const Tensor& input : inputs) {
    stand_ins.push_back(input.numel() == 0 ? input : copy_of(input));
  }
  trace->remember_inputs(stand_ins);
  const Rootless before;
  std::vector<Tensor> results;
  try {
    Recording recording;
    results = function.call(function.context, stand_ins);
    for (Tensor& r : results) r = new_result(r);
    before.check_unassigned();
  } catch (...) {
    undo_stores();
    throw;
  }
  const std::vector<Tensor> assigned = pending_stores();
  trace->prepare(results, assigned);

  std::vector<Tensor> all = results;
  all.insert(all.end(), assigned.begin(), assigned.end());
  realize_all(all);
  for (const Tensor& t : assigned) trace->written.insert(viewed_buffer(t.node()).node());
  trace_ = std::move(trace);
  return results;
}

void Step::Trace::remember_inputs(std::span<const Tensor> given) {
  for (const Tensor& t : given) {
    inputs.push_back({t.shape(), t.dtype(), std::string(t.device()), storage_of(t.node())});
  }
}

void Step::Trace::prepare(std::span<const Tensor> result_tensors,
                          std::span<const Tensor> assigned) {
  std::vector<UOp> roots;
  for (const Tensor& t : result_tensors) {
    roots.push_back(t.node());
    results.push_back(t.shape());
  }
  for (const Tensor& t : assigned) roots.push_back(t.node());
  prepared = croze::prepare(roots);
  for (UOp buffer : inputs_of(*prepared)) {
    if (is_random_key(buffer.buffer_id())) random_keys.push_back(buffer);
    kept_alive.push_back(wrap(buffer, buffer.buffer_device()));
    own_storage(kept_alive.back());
  }
  std::ranges::sort(random_keys, {}, [](UOp b) { return b.buffer_id(); });
}

// ---- replaying --------------------------------------------------------------------------------

void Step::Trace::check_inputs(std::span<const Tensor> given) const {
  check(given.size() == inputs.size(), "a captured step of {} inputs was called with {}",
        inputs.size(), given.size());
  for (std::size_t i = 0; i < given.size(); i++) {
    const Input& traced = inputs[i];
    const Tensor& now = given[i];
    check(
        now.shape() == traced.shape && now.dtype() == traced.dtype && now.device() == traced.device,
        "input {} of a captured step was {} of shape {} on {} at the first call, and is {} of "
        "shape "
        "{} on {} now: capture another step for it",
        i, name_of(traced.dtype), to_text(traced.shape), traced.device, name_of(now.dtype()),
        to_text(now.shape()), now.device());
  }
}

std::vector<Tensor> Step::replay(std::span<const Tensor> inputs) {
  Trace& t = *trace_;
  t.check_inputs(inputs);
  realize_all(pending_stores());
  compute_readers(t.written);
  std::vector<Tensor> values;  // of the inputs, kept alive until the launch
  std::vector<UOp> buffers(inputs_of(*t.prepared).begin(), inputs_of(*t.prepared).end());
  for (std::size_t i = 0; i < inputs.size(); i++) {
    values.push_back(in_memory(inputs[i], t.written));
    const UOp stand_in = t.inputs[i].buffer;
    if (stand_in) std::ranges::replace(buffers, stand_in, storage_of(values[i].node()));
  }
  for (UOp key : t.random_keys) refresh_random_key(key);
  const std::vector<UOp> made = croze::run(*t.prepared, buffers, tensor_graph());
  memory_changed();

  std::vector<Tensor> results;
  for (std::size_t i = 0; i < t.results.size(); i++) {
    ensure(static_cast<bool>(made[i]), "a replay gave no buffer for result {}", i);
    results.push_back(wrap(reshape_node(made[i], t.results[i]), made[i].buffer_device()));
    own_storage(results.back());
  }
  return results;
}

}  // namespace croze
