// gradient.cpp -- differentiation where some gradients are given by functions.
//
// The graph cannot be differentiated in one go then: a function of the user's wants tensors, and
// may compute.  So it is done in pieces.  A gradient ends at the nodes WithGradient, as if they
// were leaves.  The last call, behind which no other stands, is given the gradients of its values;
// what it returns weights its inputs, which are from now on differentiated together with the loss;
// and so on until no call is left between them and the targets.
#include "croze/tensor/gradient.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "croze/base/error.h"
#include "croze/tensor/given_gradients.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

namespace croze {
namespace {

std::vector<UOp> nodes_of(std::span<const Tensor> tensors) {
  std::vector<UOp> nodes;
  for (const Tensor& t : tensors) nodes.push_back(t.node());
  return nodes;
}

bool is_zero(UOp gradient) {
  const UOp number = filling_of(gradient);
  return number && number.const_double() == 0;
}

class Differentiation {
 public:
  Differentiation(const Call& call, std::span<const Tensor> outputs,
                  std::span<const Tensor> weights, std::span<const Tensor> targets)
      : call_(call),
        roots_(outputs.begin(), outputs.end()),
        weights_(weights.begin(), weights.end()),
        targets_(targets.begin(), targets.end()) {}

  std::vector<Tensor> run() {
    while (std::optional<Asked> asked = next()) answer(*asked);
    GraphLock lock;
    Registry::instance().settle();
    std::vector<Past::Target> asked;
    for (const Tensor& t : targets_) asked.push_back(Registry::target_of(TensorRecord::of(t)));
    const std::vector<UOp> gradients = gradients_by(asked);
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < targets_.size(); i++) {
      result.push_back(wrap_like(targets_[i], gradients[i]));
    }
    return result;
  }

 private:
  // A call of with_gradient, and what it is asked.
  struct Asked {
    std::shared_ptr<const GivenGradient> given;
    std::vector<Tensor> inputs;
    std::vector<Tensor> gradients;
    std::vector<bool> wanted;
  };

  std::vector<UOp> gradients_by(std::span<const Past::Target> targets) const {
    return Registry::instance().past().gradient(call_, nodes_of(roots_), nodes_of(weights_),
                                                targets);
  }

  // The last call that has not been asked.  All nodes of a call stand behind its inputs, so the
  // calls that depend on it have all their nodes behind its first.
  std::optional<Asked> next() {
    GraphLock lock;
    Registry& registry = Registry::instance();
    if (registry.given.empty()) return {};
    registry.settle();
    for (;;) {
      const std::vector<Past::Given> all =
          registry.past().given_between(nodes_of(roots_), nodes_of(targets_));
      std::int64_t last = -1;
      FlatSet<std::int64_t> seen;
      for (const Past::Given& g : all) {
        const std::int64_t call = g.node.arg().as_ints()[0];
        if (seen.insert(call) && !asked_.contains(call)) last = call;
      }
      if (last < 0) return {};
      asked_.insert(last);
      if (std::optional<Asked> asked = question(last, all)) return asked;
    }
  }

  // What the call is asked; nothing if no gradient comes to its values.
  std::optional<Asked> question(std::int64_t number, std::span<const Past::Given> all) const {
    Asked asked{.given = Registry::instance().given.at(number),
                .inputs = {},
                .gradients = {},
                .wanted = {}};
    const GivenGradient& given = *asked.given;
    std::vector<Past::Target> nodes;
    for (const Past::Given& g : all) {
      if (g.node.arg().as_ints()[0] != number) continue;
      nodes.push_back({g.node, {}, {}});
      asked.wanted.resize(g.leads.size());
      for (std::size_t i = 0; i < g.leads.size(); i++) {
        asked.wanted[i] = asked.wanted[i] || g.leads[i];
      }
    }
    const std::vector<UOp> gradients = gradients_by(nodes);
    if (std::ranges::all_of(gradients, is_zero)) return {};

    std::vector<UOp> sums(given.values.size());
    for (std::size_t i = 0; i < nodes.size(); i++) {
      UOp& sum = sums[static_cast<std::size_t>(nodes[i].node.arg().as_ints()[1])];
      sum = sum ? sum + gradients[i] : gradients[i];
    }
    for (std::size_t k = 0; k < sums.size(); k++) {
      const GivenGradient::Value& v = given.values[k];
      const UOp none = filled_node(scalar_node(v.dtype, 0), v.shape);
      asked.gradients.push_back(wrap(sums[k] ? sums[k] : none, v.device));
    }
    for (std::size_t i = 0; i < given.input_devices.size(); i++) {
      asked.inputs.push_back(
          wrap(nodes[0].node.src(static_cast<int>(i) + 1), given.input_devices[i]));
    }
    Registry::instance().past().check_present(call_, nodes_of(asked.inputs));
    return asked;
  }

  void answer(const Asked& asked) {
    std::vector<Tensor> partials;
    {
      const CallbackScope user;
      partials = asked.given->function({asked.inputs, asked.gradients, asked.wanted});
    }
    const Location at = asked.given->at;
    const Call all("with_gradient", {}, at);
    all.require(partials.size() == asked.inputs.size(), "{} gradients were returned for {} inputs",
                partials.size(), asked.inputs.size());
    for (std::size_t i = 0; i < partials.size(); i++) {
      if (!partials[i].defined() || !asked.wanted[i]) continue;
      const Tensor& input = asked.inputs[i];
      const Call call("with_gradient", {&input, &partials[i]}, at);
      call.require(partials[i].shape() == input.shape() && partials[i].dtype() == input.dtype(),
                   "the gradient that was returned for input {}, {} of shape {}, is {} of shape {}",
                   i, name_of(input.dtype()), input.shape(), name_of(partials[i].dtype()),
                   partials[i].shape());
      roots_.push_back(input);
      weights_.push_back(partials[i]);
    }
  }

  const Call& call_;
  std::vector<Tensor> roots_, weights_, targets_;
  FlatSet<std::int64_t> asked_;
};

// Throws Error unless the tensor can be differentiated by the targets.
void check_known(const Call& call, const Tensor& x) {
  const TensorRecord& record = TensorRecord::of(x);
  call.require(!record.owns_storage || !storage_of(record.node) || record.is_computed,
               "how this tensor was computed is not known: it was made from data, was assigned to, "
               "or is the result of a captured step");
}

void check_targets(const Tensor& x, std::string_view function, std::span<const Tensor> targets,
                   Location at) {
  for (std::size_t i = 0; i < targets.size(); i++) {
    const Tensor& t = targets[i];
    const Call by(function, {&x, &t}, at);
    by.require(is_float(t.dtype()), "target {} is not a float tensor", i);
    by.require(reads_memory(t.node()),
               "target {} is a constant, which cannot be told from others that look alike: "
               "realize() it where it is made",
               i);
  }
}

}  // namespace

std::vector<Tensor> Tensor::gradient(std::span<const Tensor> targets, Location at) const {
  const Call call("gradient", {this}, at);
  call.require(numel() == 1 && is_float(dtype()),
               "only a tensor of one float element can be differentiated");
  Tensor one;
  {
    GraphLock lock;
    Registry::instance().settle();
    check_known(call, *this);
    check_targets(*this, "gradient", targets, at);
    one = wrap_like(*this, filled_node(scalar_node(dtype(), 1), shape()));
  }
  return Differentiation(call, {this, 1}, {&one, 1}, targets).run();
}

std::vector<Tensor> vjp(std::span<const Tensor> outputs, std::span<const Tensor> weights,
                        std::span<const Tensor> targets, Location at) {
  const Call call("vjp", {}, at);
  call.require(!outputs.empty() && outputs.size() == weights.size(), "{} outputs with {} weights",
               outputs.size(), weights.size());
  {
    GraphLock lock;
    Registry::instance().settle();
    for (std::size_t i = 0; i < outputs.size(); i++) {
      const Tensor &x = outputs[i], &w = weights[i];
      const Call of("vjp", {&x, &w}, at);
      of.require(is_float(x.dtype()), "output {} is not a float tensor", i);
      of.require(w.shape() == x.shape() && w.dtype() == x.dtype(),
                 "output {} and its weight differ in shape or dtype", i);
      check_targets(x, "vjp", targets, at);
    }
  }
  return Differentiation(call, outputs, weights, targets).run();
}

std::vector<Tensor> vjp(std::initializer_list<Tensor> outputs,
                        std::initializer_list<Tensor> weights,
                        std::initializer_list<Tensor> targets, Location at) {
  return vjp(std::span(outputs.begin(), outputs.size()), std::span(weights.begin(), weights.size()),
             std::span(targets.begin(), targets.size()), at);
}

std::vector<Tensor> with_gradient(std::span<const Tensor> values, std::span<const Tensor> inputs,
                                  GradientFunction gradient, Location at) {
  const Call call("with_gradient", {}, at);
  GivenGradient given{.function = std::move(gradient), .values = {}, .input_devices = {}, .at = at};
  for (const Tensor& v : values) {
    const Call of("with_gradient", {&v}, at);
    of.require(is_float(v.dtype()), "a value is not a float tensor");
    given.values.push_back({v.shape(), v.dtype(), v.device_index()});
  }
  GraphLock lock;
  const std::vector<UOp> nodes = input_nodes(inputs, given);
  const std::int64_t number = Registry::instance().given.add(std::move(given));
  std::vector<Tensor> results;
  for (const Tensor& v : values) {
    const int k = static_cast<int>(results.size());
    results.push_back(wrap_like(v, with_gradient_node(v.node(), nodes, number, k)));
  }
  return results;
}

Tensor with_gradient(const Tensor& value, std::initializer_list<Tensor> inputs,
                     GradientFunction gradient, Location at) {
  return with_gradient(std::span(&value, 1), std::span(inputs.begin(), inputs.size()),
                       std::move(gradient), at)[0];
}

}  // namespace croze
