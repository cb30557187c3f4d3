// sgd.cpp -- stochastic gradient descent.
#include "croze/nn/optim/sgd.h"

#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::optim {

SGD::SGD(std::vector<Tensor> p, const SGDOptions& o, Location at)
    : Optimizer("SGD", std::move(p), o.learning_rate, at), options(o) {
  check(!o.nesterov || o.momentum != 0, at, "SGD: nesterov needs momentum");
  if (o.momentum != 0) velocity = zeros_for(parameters);
}

void SGD::step(const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  const CallScope scope("SGD::step", at);
  check_step("SGD", parameters, gradients, when, at);
  std::vector<Tensor> assigned;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Tensor p = widened(parameters[i]);
    Tensor g = widened(gradients[i]);
    if (options.weight_decay != 0) g = g + options.weight_decay * p;
    Tensor direction = g;
    if (options.momentum != 0) {
      assigned.push_back(update(velocity[i], options.momentum * velocity[i] + g, when));
      direction = options.nesterov ? g + options.momentum * velocity[i] : velocity[i];
    }
    assigned.push_back(update(parameters[i], p - learning_rate * direction, when));
  }
  finish(assigned);
}

}  // namespace croze::optim
