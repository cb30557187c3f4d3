// trace.cpp -- what a function of the user's has done to the tensors that there were before.
#include "croze/jit/trace.h"

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/devices.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

bool has_pending_store(const Tensor& t) {
  return TensorRecord::of(t).owns_storage && !storage_of(t.node());
}

}  // namespace

std::vector<UOp> nodes_of(std::span<const Tensor> tensors) {
  std::vector<UOp> nodes;
  for (const Tensor& t : tensors) nodes.push_back(t.node());
  return nodes;
}

void realize_all(std::span<const Tensor> tensors) {
  if (tensors.empty()) return;
  std::vector<TensorRecord*> records;
  for (const Tensor& t : tensors) records.push_back(&TensorRecord::of(t));
  Registry::instance().realize(records);
}

Tensor copy_of(const Tensor& x) {
  return Tensor::from_bytes(x.to_bytes(), x.dtype(), x.shape(),
                            {.dtype = std::nullopt, .device = x.device()});
}

std::vector<Tensor> pending_stores() {
  std::vector<Tensor> tensors = Registry::instance().dependents();
  std::erase_if(tensors, [](const Tensor& t) { return !has_pending_store(t); });
  return tensors;
}

Tensor new_result(const Tensor& t) {
  check(t.defined(), "a captured function returned a tensor that is not defined");
  const UOp node = t.node();
  if (viewed_buffer(node)) {
    return wrap_like(t, tensor_graph().make(Op::Contiguous, node.dtype(), {node}));
  }
  // A constant is computed on the default device.
  const int device = t.device_index();
  if (reads_memory(node) || device < 0 || device == default_device() || node.elements() == 0) {
    return wrap_like(t, node);
  }
  return wrap(tensor_graph().make(Op::Copy, node.dtype(), {node}, Arg(device)), device);
}

// ---- what was there before --------------------------------------------------------------------

Dependents::Dependents()
    : tensors_(Registry::instance().dependents()), nodes_(nodes_of(tensors_)) {}

bool Dependents::is_assigned(std::size_t i) const {
  return !TensorRecord::of(tensors_[i]).root && tensors_[i].node() != nodes_[i];
}

void Dependents::restore() const {
  for (const Tensor& t : pending_stores()) {
    const UOp buffer = reshape_node(viewed_buffer(t.node()), t.shape());
    Registry::instance().set_node(TensorRecord::of(t), buffer, true);
  }
  for (std::size_t i = 0; i < tensors_.size(); i++) {
    if (!is_assigned(i)) continue;
    Registry::instance().set_node(TensorRecord::of(tensors_[i]), nodes_[i], false);
  }
}

Tensor Dependents::assigned() const {
  for (std::size_t i = 0; i < tensors_.size(); i++) {
    if (is_assigned(i)) return tensors_[i];
  }
  return {};
}

void Dependents::compute_used(std::span<const UOp> roots) const {
  FlatMap<const Node*, const Tensor*> recorded;
  for (std::size_t i = 0; i < tensors_.size(); i++) {
    if (!viewed_buffer(nodes_[i]) && reads_memory(nodes_[i])) {
      recorded.insert(nodes_[i].node(), &tensors_[i]);
    }
  }
  std::vector<Tensor> used;
  FlatSet<const Node*> seen;
  std::vector<UOp> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (!seen.insert(u.node())) continue;
    if (const Tensor* const* t = recorded.find(u.node())) {
      used.push_back(**t);
    } else {
      for (UOp s : u.sources()) stack.push_back(s);
    }
  }
  realize_all(used);
  Registry::instance().settle();
}

}  // namespace croze
