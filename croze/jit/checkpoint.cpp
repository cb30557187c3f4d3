// checkpoint.cpp -- a function whose gradient records it once more.
//
// What the function recorded is kept over stand-ins for all that it read, which hold no memory. Its
// results have a given gradient, which records that graph over copies of the inputs and asks it for
// vector-Jacobian products.  The copies are what keeps the second recording apart from the first:
// over the same nodes it would be the same nodes.  They are made as late as the gradient wants
// them, since the scheduler runs first what was made ready last.
//
// Weights, which are memory anyway, are not copied.  They are given a name of their own, so that
// the products do not count what flows to them through the inputs.
#include "croze/jit/checkpoint.h"

#include <algorithm>
#include <memory>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/tensor/gradient.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze::detail {
namespace {

bool is_memory(UOp u) { return u.is(Op::Buffer) || (u.is(Op::Reshape) && u.src(0).is(Op::Buffer)); }

// The tensors that there are, by node.
using Tensors = FlatMap<const Node*, Tensor>;

// What a function read, of what there was before it.
std::vector<Tensor> arguments_of(std::span<const Tensor> results, const Tensors& before) {
  std::vector<Tensor> arguments;
  FlatSet<const Node*> seen;
  std::vector<UOp> stack;
  for (const Tensor& r : results) stack.push_back(r.node());
  while (!stack.empty()) {
    const UOp u = stack.back();
    stack.pop_back();
    if (!seen.insert(u.node()) || !reads_memory(u) || u.elements() == 0) continue;
    if (const Tensor* t = before.find(u.node())) {
      arguments.push_back(*t);
    } else if (is_memory(u)) {
      arguments.push_back(wrap(u, storage_of(u).buffer_device()));
    } else {
      check(!u.is(Op::After), "a result depends on what the function has assigned to a tensor");
      for (UOp s : u.sources()) stack.push_back(s);
    }
  }
  return arguments;
}

// What a function recorded, over stand-ins.
class Recorded {
 public:
  Recorded(std::span<const Tensor> results, std::span<const Tensor> arguments,
           std::span<const Tensor> inputs) {
    std::vector<std::pair<UOp, UOp>> replaced;
    for (const Tensor& a : arguments) {
      const int device = a.device_index() < 0 ? default_device() : a.device_index();
      const UOp buffer = new_stand_in(tensor_graph(), a.dtype(), a.numel(), device);
      stand_ins_.push_back(wrap(reshape_node(buffer, a.shape()), device));
      replaced.emplace_back(a.node(), stand_ins_.back().node());
      const bool is_input =
          std::ranges::any_of(inputs, [&](const Tensor& t) { return t.node() == a.node(); });
      is_copied_.push_back(is_input || !looks_at_memory(a.node()));
    }
    results_ = with_nodes(results, replaced);
  }

  // The gradients by the arguments.
  std::vector<Tensor> gradients(const GradientRequest& request) const {
    std::vector<Tensor> anew, targets;
    for (std::size_t i = 0; i < request.inputs.size(); i++) {
      anew.push_back(apart(request.inputs[i], is_copied_[i]));
      if (is_float(anew.back().dtype()) && request.wanted[i]) targets.push_back(anew.back());
    }
    const std::vector<Tensor> found = vjp(over(anew), request.gradients, targets);
    std::vector<Tensor> gradients(anew.size());
    auto next = found.begin();
    for (std::size_t i = 0; i < anew.size(); i++) {
      if (is_float(anew[i].dtype()) && request.wanted[i]) gradients[i] = *next++;
    }
    return gradients;
  }

 private:
  static Tensor apart(const Tensor& t, bool is_copied) {
    const GraphLock lock;
    if (is_copied) {
      return wrap_like(t, tensor_graph().make(Op::Contiguous, t.dtype(), {t.node()}));
    }
    if (!is_float(t.dtype())) return t;
    return with_gradient(t, {t},
                         [](const GradientRequest& r) { return std::vector{r.gradients[0]}; });
  }

  static std::vector<Tensor> with_nodes(std::span<const Tensor> tensors,
                                        std::span<const std::pair<UOp, UOp>> replaced) {
    std::vector<UOp> nodes;
    for (const Tensor& t : tensors) nodes.push_back(t.node());
    const UOp all = substitute(tensor_graph().sink(nodes), replaced);
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < tensors.size(); i++) {
      result.push_back(wrap_like(tensors[i], all.src(static_cast<int>(i))));
    }
    return result;
  }

  std::vector<Tensor> over(std::span<const Tensor> arguments) const {
    const GraphLock lock;
    std::vector<std::pair<UOp, UOp>> replaced;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      const UOp buffer = storage_of(stand_ins_[i].node());
      const std::int64_t flat[] = {buffer.elements()};
      replaced.emplace_back(buffer, reshape_node(arguments[i].node(), flat));
    }
    return with_nodes(results_, replaced);
  }

  std::vector<Tensor> stand_ins_, results_;
  std::vector<bool> is_copied_;  // by argument
};

}  // namespace

std::vector<Tensor> computed_again(std::span<const Tensor> inputs,
                                   function_ref<std::vector<Tensor>()> function, Location at) {
  const CallScope scope("checkpoint", at);
  const GraphLock lock;
  Registry::instance().settle();
  Tensors before;
  for (const Tensor& t : Registry::instance().dependents()) before.insert(t.node().node(), t);
  for (const Tensor& t : inputs) before.insert(t.node().node(), t);
  std::vector<Tensor> results;
  {
    const CallbackScope user;
    results = function();
  }
  const std::vector<Tensor> arguments = arguments_of(results, before);
  const auto recorded = std::make_shared<const Recorded>(results, arguments, inputs);
  return with_gradient(
      results, arguments, [recorded](const GradientRequest& r) { return recorded->gradients(r); },
      at);
}

}  // namespace croze::detail
