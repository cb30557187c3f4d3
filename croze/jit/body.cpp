// body.cpp -- tracing a function, and using what it recorded.
//
// What is kept is a graph over stand-ins: Buffers that have no memory and are read by nothing else,
// so whatever becomes of other tensors, this graph stays as it is.  To record it over other tensors
// their nodes are put in the place of the stand-ins.
#include "croze/jit/body.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/jit/trace.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/open_sizes.h"
#include "croze/schedule/schedule.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

// The function's results.  What it assigned to is as before.
std::vector<Tensor> traced(std::span<const Tensor> stand_ins, Body::Function function,
                           Capturing::Computes computes) {
  realize_all(pending_stores());
  Registry::instance().settle();
  const Dependents before;
  std::vector<Tensor> results;
  try {
    const Capturing capturing(computes);
    results = function(stand_ins);
    for (Tensor& r : results) r = new_result(r);
    const std::vector<Tensor> stores = pending_stores();
    const Tensor assigned = stores.empty() ? before.assigned() : stores[0];
    check(!assigned.defined(),
          "the function assigns to a tensor of shape {} that there was before it: what it changes "
          "from step to step must be a state",
          assigned.defined() ? to_text(assigned.shape()) : "");
  } catch (...) {
    before.restore();
    throw;
  }
  before.compute_used(nodes_of(results));
  return results;
}

struct MemoryRead {
  std::vector<UOp> keys;    // Buffers, in the order in which they were drawn
  std::vector<UOp> closed;  // Buffers and Reshapes of one
};

// What the roots read beside what is known.  A Buffer is taken in the shape of the tensor that it
// is the value of, because that is what has a past.
MemoryRead memory_read(std::span<const UOp> roots, const FlatSet<const Node*>& known) {
  MemoryRead read;
  FlatSet<const Node*> seen;
  const auto add = [&](UOp u, std::vector<UOp>& list) {
    const bool is_known = known.contains(u.node()) || known.contains(storage_of(u).node());
    if (!is_known && seen.insert(u.node())) list.push_back(u);
  };
  for (UOp u : toposort(roots)) {
    for (UOp s : u.sources()) {
      const bool is_shaped = s.is(Op::Reshape) && s.src(0).is(Op::Buffer);
      if (!is_shaped && !s.is(Op::Buffer)) continue;
      const bool is_key = is_random_key(storage_of(s).buffer_id());
      if (is_key && s.is(Op::Buffer)) add(s, read.keys);
      if (!is_key && (is_shaped || !u.is(Op::Reshape))) add(s, read.closed);
    }
  }
  std::ranges::sort(read.keys, {}, [](UOp u) { return u.buffer_id(); });
  return read;
}

}  // namespace

Body::Body(std::span<const Value> arguments, Function function, Capturing::Computes computes,
           const OpenRecording& open) {
  std::unique_lock lock(Registry::instance().mutex);
  for (const Value& v : arguments) add_argument(v);
  recorded_ = traced(stand_ins_, function, computes);
  for (const Tensor& r : recorded_) {
    results_.push_back(Value::of(r));
    if (results_.back().device < 0) results_.back().device = default_device();
  }
  find_further_arguments();
  const std::vector<UOp> roots = this->roots();
  if (roots.empty()) return;
  const CanonicalGraph form = noted_canonical_graph(roots);
  lock.unlock();
  if (open.is_for_comparison) {
    open.plans->keep(form, open.sizes);
    return;
  }
  prepared_ = open.plans ? open.plans->prepare(form, open.sizes) : croze::prepare(form);
  lock.lock();
  find_order();
}

std::size_t Body::add_argument(const Value& value) {
  arguments_.push_back(value);
  Value& v = arguments_.back();
  if (v.device < 0) v.device = default_device();
  if (v.shape.numel() == 0) {
    stand_ins_.push_back(Tensor::zeros(v.shape, {.dtype = v.dtype}));
  } else {
    const UOp buffer = new_stand_in(tensor_graph(), v.dtype, v.shape.numel(), v.device);
    stand_ins_.push_back(wrap(reshape_node(buffer, v.shape), v.device));
  }
  return arguments_.size() - 1;
}

// Puts stand-ins in the place of all other memory that the results are recorded from.
void Body::find_further_arguments() {
  FlatSet<const Node*> known;
  for (const Tensor& s : stand_ins_) known.insert(s.node().node());
  const MemoryRead read = memory_read(nodes_of(recorded_), known);
  std::vector<std::pair<UOp, UOp>> replacements;
  const auto add = [&](UOp node, int device, std::vector<Tensor>& list) {
    list.push_back(wrap(node, device));
    const std::size_t i = add_argument(Value::of(list.back()));
    replacements.emplace_back(node, stand_ins_[i].node());
  };
  for (UOp u : read.keys) add(u, u.buffer_device(), keys_);
  for (UOp u : read.closed) add(u, storage_of(u).buffer_device(), closed_);
  if (replacements.empty()) return;
  const UOp all = substitute(tensor_graph().sink(nodes_of(recorded_)), replacements);
  for (std::size_t i = 0; i < recorded_.size(); i++) {
    recorded_[i] = wrap_like(recorded_[i], all.src(static_cast<int>(i)));
  }
}

// The results that have elements.
std::vector<UOp> Body::roots() const {
  std::vector<UOp> roots;
  FlatSet<const Node*> seen;
  for (const Tensor& r : recorded_) {
    UOp root = r.node();
    if (root.elements() == 0) continue;
    // Two results are two pieces of memory.
    while (!seen.insert(root.node())) {
      root = root.graph().make(Op::Contiguous, root.dtype(), {root});
    }
    roots.push_back(root);
  }
  return roots;
}

void Body::find_order() {
  for (UOp input : inputs_of(*prepared_)) {
    const auto stand_in = std::ranges::find_if(
        stand_ins_, [&](const Tensor& s) { return storage_of(s.node()) == input; });
    ensure(stand_in != stand_ins_.end(), "a body reads memory that is no argument");
    order_.push_back(static_cast<std::size_t>(stand_in - stand_ins_.begin()));
  }
}

bool Body::reads(std::size_t argument) const {
  return std::ranges::find(order_, argument) != order_.end();
}

std::vector<Tensor> Body::operator()(std::span<const Tensor> arguments) const {
  GraphLock lock;
  std::vector<std::pair<UOp, UOp>> replacements;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const UOp buffer = storage_of(stand_ins_[i].node());
    if (!buffer) continue;
    const std::int64_t flat[] = {buffer.elements()};
    replacements.emplace_back(buffer, reshape_node(arguments[i].node(), flat));
  }
  const UOp all = substitute(tensor_graph().sink(nodes_of(recorded_)), replacements);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < recorded_.size(); i++) {
    results.push_back(wrap(all.src(static_cast<int>(i)), results_[i].device));
  }
  return results;
}

}  // namespace croze
