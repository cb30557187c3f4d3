// given_gradients.cpp -- the table of given gradients.
#include "croze/tensor/given_gradients.h"

#include <utility>

#include "croze/base/error.h"
#include "croze/base/flat_map.h"
#include "croze/graph/graph.h"

namespace croze {

std::int64_t GivenGradients::add(GivenGradient given) {
  calls_.emplace(next_, std::make_shared<const GivenGradient>(std::move(given)));
  return next_++;
}

const std::shared_ptr<const GivenGradient>& GivenGradients::at(std::int64_t call) const {
  const auto it = calls_.find(call);
  ensure(it != calls_.end(), "the gradient of call {} has been forgotten", call);
  return it->second;
}

void GivenGradients::drop_unseen(const NodeSet& seen) {
  if (calls_.empty()) return;
  FlatSet<std::int64_t> kept;
  for (const Node* node : seen) {
    if (const UOp u(node); u.is(Op::WithGradient)) kept.insert(u.arg().as_ints()[0]);
  }
  // The functions hold tensors, whose end must not meet a table that is being changed.
  std::vector<std::shared_ptr<const GivenGradient>> dropped;
  for (auto it = calls_.begin(); it != calls_.end();) {
    if (kept.contains(it->first)) {
      ++it;
    } else {
      dropped.push_back(std::move(it->second));
      it = calls_.erase(it);
    }
  }
}

UOp with_gradient_node(UOp value, std::span<const UOp> inputs, std::int64_t call, int k) {
  Graph& graph = value.graph();
  std::vector<UOp> sources{graph.make(Op::Detach, value.dtype(), {value})};
  sources.insert(sources.end(), inputs.begin(), inputs.end());
  const std::int64_t arg[] = {call, k};
  return graph.make(Op::WithGradient, value.dtype(), sources, Arg(std::span(arg)));
}

std::vector<UOp> input_nodes(std::span<const Tensor> inputs, GivenGradient& given) {
  std::vector<UOp> nodes;
  for (const Tensor& t : inputs) {
    nodes.push_back(t.node());
    given.input_devices.push_back(t.device_index());
  }
  return nodes;
}

}  // namespace croze
