// lars.cpp -- LARS.
#include "croze/nn/optim/lars.h"

#include <utility>

#include "croze/base/call_site.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"

namespace croze::optim {

LARS::LARS(std::vector<Tensor> p, const LARSOptions& o, Location at)
    : Optimizer("LARS", std::move(p), o.learning_rate, at), options(o) {
  velocity = zeros_for(parameters);
}

void LARS::step(const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  const CallScope scope("LARS::step", at);
  check_step("LARS", parameters, gradients, when, at);
  std::vector<Tensor> assigned;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Tensor p = widened(parameters[i]), g = widened(gradients[i]);
    const Tensor size = vector_norm(p), slope = vector_norm(g);
    const Tensor share = options.trust * size / (slope + options.weight_decay * size);
    const Tensor rate =
        (learning_rate * where(logical_and(size > 0, slope > 0), share, 1)).contiguous();
    const Tensor change = rate * (g + options.weight_decay * p);
    assigned.push_back(update(velocity[i], options.momentum * velocity[i] + change, when));
    assigned.push_back(update(parameters[i], p - velocity[i], when));
  }
  finish(assigned);
}

}  // namespace croze::optim
