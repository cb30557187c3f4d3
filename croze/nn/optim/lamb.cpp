// lamb.cpp -- LAMB.
#include "croze/nn/optim/lamb.h"

#include <utility>

#include "croze/base/call_site.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"

namespace croze::optim {

LAMB::LAMB(std::vector<Tensor> p, const LAMBOptions& o, Location at)
    : MomentOptimizer("LAMB", std::move(p), {o.learning_rate, o.beta1, o.beta2}, at), options(o) {}

void LAMB::step(const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  const CallScope scope("LAMB::step", at);
  check_step("LAMB", parameters, gradients, when, at);
  const Tensor count = steps + 1;
  // One number each for all parameters: computed once, not per element.
  const Tensor mean_scale = (1 / bias_correction(options.beta1, count)).contiguous();
  const Tensor root_scale = rsqrt(bias_correction(options.beta2, count)).contiguous();
  std::vector<Tensor> assigned{update(steps, count, when)};
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Tensor p = widened(parameters[i]), g = widened(gradients[i]);
    assigned.push_back(update(mean[i], lerp(mean[i], g, 1 - options.beta1), when));
    assigned.push_back(update(variance[i], lerp(variance[i], g * g, 1 - options.beta2), when));
    Tensor d = mean_scale * mean[i] / (sqrt(variance[i]) * root_scale + options.epsilon);
    if (options.weight_decay != 0) d = d + options.weight_decay * p;
    const Tensor size = vector_norm(p), length = vector_norm(d);
    const Tensor rate =
        (learning_rate * where(logical_and(size > 0, length > 0), size / length, 1)).contiguous();
    assigned.push_back(update(parameters[i], p - rate * d, when));
  }
  finish(assigned);
}

}  // namespace croze::optim
