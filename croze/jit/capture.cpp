// capture.cpp -- tracing a step, and replaying it.
//
// A trace is the graph that the function recorded over Buffers: stand-ins for the inputs, which a
// replay replaces by the Buffers of the new inputs, and those of other tensors, which are looked up
// anew, because memory that is assigned to gets another Buffer.  The first call also runs what it
// traced, in the ordinary way, so that tensors which escaped from the function are computed like
// any others.
//
// Tracing computes no tensor that the function does not use: what another part of the program has
// recorded stays as it is.  What the function uses is computed before, so that replays do not do it
// again and again.
//
// Replays write to memory that tensors outside know.  Before each, every live tensor that was
// recorded from the old contents is computed; after it the owners get the new contents.
#include "croze/jit/capture.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/unused_memory.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/serialize.h"
#include "croze/jit/closed_over.h"
#include "croze/jit/donations.h"
#include "croze/jit/open_axes.h"
#include "croze/jit/recording.h"
#include "croze/jit/trace.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "croze/run/explain.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

// Lists of open sizes for which a step keeps what it has recorded.
constexpr std::int64_t most_traces = 64;

// For a run, which records nothing: the tensor's memory may still be unshared.
UOp memory_of(const Tensor& t) { return storage_of(TensorRecord::of(t).node); }

bool is_memory(const Tensor& t) {
  const UOp node = TensorRecord::of(t).node, buffer = storage_of(node);
  return buffer && buffer.elements() == node.elements();
}

// A tensor over a Buffer of its own with the value of x.
Tensor in_memory(const Tensor& x) {
  if (is_memory(x) || x.numel() == 0) return x;
  Tensor t = x;
  t.realize();
  return is_memory(t) ? t : copy_of(t);
}

}  // namespace

bool is_capturing() { return Capturing::is_active(); }

// What a traced step keeps.
struct Step::Trace {
  struct Input {
    Shape shape;
    DType dtype;
    bool is_assigned = false;  // by the function
    bool is_donated = false;
  };
  struct Result {
    Shape shape;
    DType dtype;
    std::string device;
  };
  // What stands for a Buffer of the plan.
  struct Place {
    int input = -1;  // of this number; else
    Tensor owner;    // the tensor that owns the memory
  };
  struct Written {
    int place;
    std::vector<MemoryPart> parts;  // of it; none: all
  };

  Signature signature;
  std::vector<Input> inputs;
  std::shared_ptr<const PreparedRun> prepared;
  std::string graph;             // what was prepared, as bytes, its buffers by number
  std::vector<Place> places;     // one per Buffer of the plan; their owners,
  ClosedOver closed_over;        // as far as the function did not make them; ends before them
  std::vector<int> random_keys;  // places, to draw anew in the order in which they were drawn
  std::vector<Written> written;
  std::vector<Result> results;
  MemoryTaken taken;

  void prepare(std::span<const Tensor> returned, std::span<const Tensor> results,
               std::span<const Tensor> assigned, std::span<const Tensor> stand_ins);
  void note_assigned(std::span<const Tensor> stand_ins);
  void hold_closed_over(const ClosedOver::Beginning& beginning);
  void check_apart(std::span<const Tensor> given) const;
  std::vector<bool> donated() const;
  // Of the inputs, the donated ones that a replay writes to.
  std::vector<bool> overwritten_inputs() const;
  std::vector<Registry::Overwritten> overwritten() const;
  std::vector<Tensor> results_over(std::span<const UOp> made,
                                   std::span<const UOp> taken_from) const;
  // What was recorded, which takes no memory of donated inputs; its inputs are nodes of `nodes`.
  CanonicalGraph recorded(Graph& nodes) const {
    return canonical_graph(taken.without(deserialize(nodes, graph)));
  }
};

Step::Step() : donations_(std::make_unique<Donations>()) {}
Step::~Step() = default;
Step::Step(Step&&) noexcept = default;
Step& Step::operator=(Step&&) noexcept = default;

// A replay that is bound to memory and not launched yet.
struct Step::Replay {
  BoundRun run;
  std::vector<Tensor> results;
};

std::vector<Tensor> Step::run(std::span<const Tensor> inputs, const Signature& signature,
                              Function function, Location at) {
  const CallScope scope("captured step", at);
  check(!is_capturing(), "a captured step was called while another one is captured");
  std::unique_lock lock(Registry::instance().mutex);
  if (is_watching()) return run_unrecorded(inputs, signature, function);
  std::vector<std::int64_t> open_sizes;
  if (open_) open_sizes = open_->sizes(signature);
  if (!find_trace(signature)) {
    std::vector<Tensor> results = trace(inputs, signature, open_sizes, function);
    Registry::instance().collect();  // what was recorded, and memory that waited while it was much
    return_unused_memory();
    return results;
  }
  Replay replay = this->replay(inputs);
  lock.unlock();
  replay.run.launch();
  return std::move(replay.results);
}

// Puts the trace for this signature in front, if there is one.  Throws Error if the step was traced
// for inputs that differ in more than open sizes.
bool Step::find_trace(const Signature& signature) {
  if (traces_.empty()) return false;
  const auto is_it = [&](const auto& trace) { return trace->signature == signature; };
  const auto found = std::ranges::find_if(traces_, is_it);
  if (found == traces_.end()) {
    const Signature& first = traces_.front()->signature;
    first.check_same(open_ ? open_->with_sizes_of(signature, first) : signature);
    return false;
  }
  std::rotate(traces_.begin(), found, found + 1);
  return true;
}

void Step::donate(std::string_view place, Location at) {
  const CallScope scope("captured step", at);
  check(traces_.empty(), "{} is donated after the first call", place);
  donations_->add(place);
}

void Step::open(std::string_view place, std::int64_t axis, const Dim& dim, Location at) {
  const CallScope scope("captured step", at);
  check(traces_.empty(), "a size of {} is to be open after the first call", place);
  if (!open_) open_ = std::make_unique<OpenAxes>();
  open_->add(place, axis, dim);
}

const Step::Trace& Step::last_trace(std::string_view what) const {
  check(!traces_.empty(), "a captured step has {} before its first call", what);
  return *traces_.front();
}

RunSummary Step::summary() const { return summary_of(*last_trace("no summary").prepared); }

Explanation Step::explanation() const {
  return explanation_of(*last_trace("no explanation").prepared);
}

// ---- what was recorded ------------------------------------------------------------------------

namespace {

std::vector<std::byte> contents_of(UOp buffer) {
  auto bytes = sized_vector<std::byte>(buffer.buffer_elements() * size_of(buffer.dtype()),
                                       "the contents of a tensor");
  read_buffer(buffer, bytes);
  return bytes;
}

}  // namespace

StepRecording Step::recording() const {
  const Trace& t = last_trace("recorded nothing");
  const std::unique_lock lock(Registry::instance().mutex);
  realize_all(pending_stores());
  Graph nodes;
  StepRecording result{
      .graph = t.recorded(nodes), .places = {}, .random_keys = {}, .inputs = {}, .results = {}};
  for (const Trace::Input& i : t.inputs) result.inputs.push_back({i.shape, i.dtype});
  for (const Trace::Result& r : t.results) result.results.push_back({r.shape, r.dtype});
  std::vector<int> number(t.places.size(), -1);  // of a place of the trace in the copy
  for (UOp buffer : result.graph.inputs) {
    const auto i = static_cast<std::size_t>(buffer.buffer_id());
    const Trace::Place& from = t.places[i];
    number[i] = static_cast<int>(result.places.size());
    StepRecording::Place& to = result.places.emplace_back();
    to.input = from.input;
    to.owner = from.owner;
    if (from.input < 0) to.contents = contents_of(storage_of(from.owner.node()));
    if (from.input >= 0) to.is_written = t.inputs[from.input].is_assigned;
  }
  result.graph.inputs = result.graph.buffers;
  for (const Trace::Written& w : t.written) result.places[number[w.place]].is_written = true;
  for (int i : t.random_keys) result.random_keys.push_back(number[i]);
  return result;
}

StepRecordings Step::open_recording() const {
  StepRecordings result{.dims = {}, .dims_of_inputs = {}, .last = recording()};
  if (!open_) return result;
  const Trace& last = last_trace("recorded nothing");
  result.dims = open_->dims();
  result.last_sizes = open_->sizes(last.signature);
  for (std::size_t i = 0; i < last.inputs.size(); i++) {
    std::vector<int>& dims = result.dims_of_inputs.emplace_back();
    for (int axis = 0; axis < last.inputs[i].shape.size(); axis++) {
      dims.push_back(open_->dim_at(last.signature.place_of_tensor(i), axis));
    }
  }
  const std::unique_lock lock(Registry::instance().mutex);
  for (const auto& trace : traces_) {
    if (trace.get() == &last) continue;
    Graph nodes;
    CanonicalGraph graph = trace->recorded(nodes);
    graph.inputs = graph.buffers;
    result.others.push_back({std::move(graph), open_->sizes(trace->signature)});
  }
  return result;
}

// ---- tracing ----------------------------------------------------------------------------------

namespace {

// A tensor that lives on and is given another value must have memory to carry it to the next call.
void check_unassigned(const Dependents& before) {
  const Tensor assigned = before.assigned();
  check(!assigned.defined(),
        "a captured function assigns to a tensor of shape {} that has no memory of its own (a "
        "constant or a view): realize() it, or make it contiguous(), before",
        assigned.defined() ? to_text(assigned.shape()) : "");
}

// Each call would make such a tensor anew, but a replay would find in its memory what the last one
// left there.
void check_states_kept(std::span<const Tensor> results) {
  FlatSet<const Node*> kept;
  std::vector<UOp> roots = nodes_of(results);
  for (const Tensor& t : pending_stores()) {
    roots.push_back(t.node());
    kept.insert(viewed_buffer(t.node()).node());
  }
  for (UOp u : toposort(roots)) {
    check(
        !u.is(Op::After) || kept.contains(viewed_buffer(u).node()),
        "a captured function assigns to a tensor of {} {} elements that it has made from data and "
        "let go of: make the tensor before, outside of the function",
        u.elements(), name_of(u.dtype()));
  }
}

// The results, and what waits for a store.
std::vector<Tensor> with_assigned(std::span<const Tensor> results) {
  std::vector<Tensor> all(results.begin(), results.end());
  std::ranges::move(pending_stores(), std::back_inserter(all));
  return all;
}

// Computes the results and what is assigned; gradients end there.
void compute_as_leaves(std::span<const Tensor> results, std::span<const Tensor> assigned) {
  std::vector<UOp> held;  // by what is assigned, until now
  std::vector<std::vector<MemoryPart>> parts;
  for (const Tensor& t : assigned) {
    held.push_back(viewed_buffer(t.node()));
    parts.push_back(parts_stored(t.node()));
  }
  std::vector<Tensor> all(results.begin(), results.end());
  std::ranges::copy(assigned, std::back_inserter(all));
  realize_all(all);
  Registry& registry = Registry::instance();
  for (const Tensor& r : results) registry.forget_past(TensorRecord::of(r));
  for (std::size_t i = 0; i < assigned.size(); i++) {
    registry.forget_past_of_parts({&TensorRecord::of(assigned[i]), parts[i]}, held[i]);
  }
}

std::vector<bool> none_of(std::span<const Tensor> inputs) {
  return std::vector<bool>(inputs.size());
}

}  // namespace

// What is wrong has the lines of the function only when the function itself runs.
std::vector<Tensor> Step::run_unrecorded(std::span<const Tensor> inputs, const Signature& signature,
                                         Function function) {
  std::vector<Tensor> results;
  {
    const CallbackScope user;
    results = function.call(function.context, inputs);
    for (Tensor& r : results) r = new_result(r);
    realize_all(with_assigned(results));
  }
  DonatedInputs(inputs, donations_->among(signature), signature).end(none_of(inputs));
  return results;
}

std::vector<Tensor> Step::trace(std::span<const Tensor> inputs, const Signature& signature,
                                std::span<const std::int64_t> open_sizes, Function function) {
  realize_all(pending_stores());
  auto trace = std::make_unique<Trace>();
  trace->signature = signature;
  DonatedInputs donated(inputs, donations_->among(signature), signature);
  std::vector<Tensor> stand_ins;
  for (const Tensor& input : inputs) {
    const bool is_donated = donated.contains(stand_ins.size());
    trace->inputs.push_back({input.shape(), input.dtype(), false, is_donated});
    stand_ins.push_back(input.numel() == 0 ? input : copy_of(input));
  }
  Registry::instance().settle();
  const Dependents before;
  const ClosedOver::Beginning beginning;
  std::vector<Tensor> returned, results;
  try {
    const Capturing capturing(Capturing::Computes::Nothing, stand_ins);
    {
      const CallbackScope user;
      returned = function.call(function.context, stand_ins);
    }
    for (const Tensor& r : returned) results.push_back(new_result(r));
    check_unassigned(before);
    check_states_kept(results);
    trace->note_assigned(stand_ins);
    trace->check_apart(inputs);
    donated.check_unread(nodes_of(with_assigned(results)), signature);
  } catch (...) {
    before.restore();
    throw;
  }
  const std::vector<Tensor> assigned = pending_stores();
  before.compute_used(nodes_of(with_assigned(results)));
  std::optional<OpenSizes::Scope> open;
  if (open_) open.emplace(open_->plans(), open_sizes);
  trace->prepare(returned, results, assigned, stand_ins);
  trace->hold_closed_over(beginning);
  // Results have its values.  Its tensors would be computed beside them, which is another plan.
  returned.clear();
  return_unused_memory();  // of compiling, before the run takes its own
  compute_as_leaves(results, assigned);
  donated.end(none_of(inputs));
  if (std::ssize(traces_) == most_traces) traces_.pop_back();
  traces_.insert(traces_.begin(), std::move(trace));
  return results;
}

void Step::Trace::note_assigned(std::span<const Tensor> stand_ins) {
  for (const Tensor& t : pending_stores()) {
    for (std::size_t i = 0; i < inputs.size(); i++) {
      if (stand_ins[i].is_same(t)) inputs[i].is_assigned = true;
    }
  }
}

void Step::Trace::hold_closed_over(const ClosedOver::Beginning& beginning) {
  const std::span<const UOp> buffers = inputs_of(*prepared);
  for (std::size_t i = 0; i < places.size(); i++) {
    if (places[i].input >= 0 || is_random_key(buffers[i].buffer_id())) continue;
    if (beginning.is_before(buffers[i], places[i].owner)) closed_over.add(places[i].owner);
  }
}

void Step::Trace::prepare(std::span<const Tensor> returned, std::span<const Tensor> result_tensors,
                          std::span<const Tensor> assigned, std::span<const Tensor> stand_ins) {
  for (const Tensor& t : result_tensors) {
    results.push_back({t.shape(), t.dtype(), std::string(t.device())});
  }
  FlatMap<const Node*, UOp> stores;  // by the Buffers that are stored into
  for (const Tensor& t : assigned) stores.insert(viewed_buffer(t.node()).node(), t.node());
  taken = MemoryTaken({returned, result_tensors, stand_ins, donated(), assigned});
  const std::vector<UOp> roots = taken.roots();
  taken.forget_nodes();
  prepared = croze::prepare(roots);
  graph = canonical_graph(roots).key;
  FlatMap<const Node*, int> stands_in;
  for (std::size_t i = 0; i < stand_ins.size(); i++) {
    const UOp buffer = viewed_buffer(stand_ins[i].node());
    if (!buffer) continue;
    stands_in.insert(buffer.node(), static_cast<int>(i));
  }

  const std::span<const UOp> buffers = inputs_of(*prepared);
  std::vector<Tensor> owners = Registry::instance().owners_of(buffers);
  for (std::size_t i = 0; i < buffers.size(); i++) {
    const int place = static_cast<int>(i);
    if (const int* input = stands_in.find(buffers[i].node())) {
      places.push_back({*input, Tensor()});
    } else {
      places.push_back({-1, owners[i]});
      if (const UOp* store = stores.find(buffers[i].node())) {
        written.push_back({place, parts_stored(*store)});
      }
    }
    if (is_random_key(buffers[i].buffer_id())) random_keys.push_back(place);
  }
  std::ranges::sort(random_keys, {}, [&](int i) { return buffers[i].buffer_id(); });
}

// ---- replaying --------------------------------------------------------------------------------

// The function would see in one input what it assigns to the other.
void Step::Trace::check_apart(std::span<const Tensor> given) const {
  const auto root_of = [&](std::size_t i) {
    const TensorRecord& record = TensorRecord::of(given[i]);
    return record.root ? record.root : &record;
  };
  for (std::size_t i = 0; i < given.size(); i++) {
    if (!inputs[i].is_assigned && !inputs[i].is_donated) continue;
    for (std::size_t k = 0; k < given.size(); k++) {
      check(k == i || root_of(k) != root_of(i),
            "{} of a captured step is the same memory as {}, which {}",
            signature.place_of_tensor(k), signature.place_of_tensor(i),
            inputs[i].is_donated ? "is donated" : "the function assigns to");
    }
    for (const Place& p : places) {
      check(!inputs[i].is_donated || p.input >= 0 || !p.owner.is_same(given[i]),
            "{} of a captured step is donated, but the function uses that tensor beside its "
            "inputs, too: donate a copy",
            signature.place_of_tensor(i));
    }
  }
}

// The owners of what a replay writes.
std::vector<Registry::Overwritten> Step::Trace::overwritten() const {
  std::vector<Registry::Overwritten> all;
  for (const Written& w : written) {
    all.push_back({&TensorRecord::of(places[w.place].owner), w.parts});
  }
  for (int i : random_keys) all.push_back({&TensorRecord::of(places[i].owner), {}});
  return all;
}

std::vector<bool> Step::Trace::donated() const {
  std::vector<bool> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) result[i] = inputs[i].is_donated;
  return result;
}

std::vector<bool> Step::Trace::overwritten_inputs() const {
  std::vector<bool> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) {
    result[i] = inputs[i].is_donated && (inputs[i].is_assigned || taken.is_taken(i));
  }
  return result;
}

// Tensors over what a run has made, or over the memory of inputs.
std::vector<Tensor> Step::Trace::results_over(std::span<const UOp> made,
                                              std::span<const UOp> taken_from) const {
  std::vector<Tensor> tensors;
  tensors.reserve(results.size());
  // A value that is returned twice stands in one Buffer.
  const bool may_repeat = results.size() > 1;
  FlatMap<const Node*, Tensor> owners;
  for (std::size_t i = 0; i < results.size(); i++) {
    const Result& r = results[i];
    if (r.shape.numel() == 0) {
      tensors.push_back(Tensor::zeros(r.shape, {.dtype = r.dtype, .device = r.device}));
      continue;
    }
    const int input = taken.input_of(i);
    const UOp buffer = input < 0 ? made[i] : taken_from[static_cast<std::size_t>(input)];
    ensure(static_cast<bool>(buffer), "a replay gave no buffer for result {}", i);
    tensors.push_back(wrap(reshape_node(buffer, r.shape), buffer.buffer_device()));
    if (const Tensor* owner = may_repeat ? owners.find(buffer.node()) : nullptr) {
      TensorRecord::of(*owner).is_unshared = false;
      continue;
    }
    if (may_repeat) owners.insert(buffer.node(), tensors.back());
    own_unshared(tensors.back());
  }
  return tensors;
}

Step::Replay Step::replay(std::span<const Tensor> inputs) {
  const Trace& t = *traces_.front();
  Registry& registry = Registry::instance();
  t.closed_over.check_held();
  t.check_apart(inputs);
  realize_all(pending_stores());
  registry.tidy();
  DonatedInputs donated(inputs, t.donated(), t.signature);
  const std::vector<bool> overwritten_inputs = t.overwritten_inputs();
  const std::vector<Registry::Overwritten> overwritten = t.overwritten();
  Registry::Nodes changing;
  for (const Registry::Overwritten& o : overwritten) {
    changing.insert(viewed_buffer(o.owner->node).node());
  }
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!overwritten_inputs[i]) continue;
    changing.insert(viewed_buffer(donated.memory(i).node()).node());
  }
  if (!changing.empty()) registry.compute_readers(changing);

  std::vector<Tensor> values;  // of the inputs, kept alive until the launch
  values.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (overwritten_inputs[i]) {
      values.push_back(donated.memory(i));
      continue;
    }
    values.push_back(in_memory(inputs[i]));
    // What the step writes is not what it was given.
    const bool is_written =
        t.inputs[i].is_assigned || changing.contains(memory_of(values.back()).node());
    if (is_written && inputs[i].numel() > 0) values.back() = copy_of(inputs[i]);
  }
  std::vector<UOp> buffers;
  buffers.reserve(t.places.size());
  for (const Trace::Place& p : t.places) {
    buffers.push_back(memory_of(p.input < 0 ? p.owner : values[p.input]));
  }
  for (int i : t.random_keys) refresh_random_key(buffers[i]);
  BoundRun run(*t.prepared, buffers, tensor_graph(), &registry.spare);
  registry.overwritten(overwritten);
  const std::vector<UOp> taken_from = donated.end(overwritten_inputs);
  std::vector<Tensor> results = t.results_over(run.values(), taken_from);
  return {std::move(run), std::move(results)};
}

}  // namespace croze
