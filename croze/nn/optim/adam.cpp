// adam.cpp -- Adam and AdamW.
#include "croze/nn/optim/adam.h"

#include <utility>

#include "croze/base/call_site.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"

namespace croze::optim {

Adam::Adam(std::vector<Tensor> p, const AdamOptions& o, Location at)
    : MomentOptimizer("Adam", std::move(p), {o.learning_rate, o.beta1, o.beta2}, at), options(o) {}

void Adam::step(const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  const CallScope scope("Adam::step", at);
  check_step("Adam", parameters, gradients, when, at);
  const Tensor count = steps + 1;
  // One number each for all parameters: computed once, not per element.
  const Tensor rate = (learning_rate / bias_correction(options.beta1, count)).contiguous();
  const Tensor scale = rsqrt(bias_correction(options.beta2, count)).contiguous();
  // As is what decay keeps of a parameter.
  const Tensor kept = 1 - learning_rate * options.weight_decay;
  std::vector<Tensor> assigned{update(steps, count, when)};
  for (std::size_t i = 0; i < parameters.size(); i++) {
    Tensor p = widened(parameters[i]);
    Tensor g = widened(gradients[i]);
    if (options.weight_decay != 0) {
      if (options.decoupled) {
        p = p * kept;
      } else {
        g = g + options.weight_decay * p;
      }
    }
    assigned.push_back(update(mean[i], lerp(mean[i], g, 1 - options.beta1), when));
    assigned.push_back(update(variance[i], lerp(variance[i], g * g, 1 - options.beta2), when));
    const Tensor change = rate * mean[i] / (sqrt(variance[i]) * scale + options.epsilon);
    assigned.push_back(update(parameters[i], p - change, when));
  }
  finish(assigned);
}

AdamW::AdamW(std::vector<Tensor> p, const AdamWOptions& o, Location at)
    : Adam(std::move(p),
           {.learning_rate = o.learning_rate,
            .beta1 = o.beta1,
            .beta2 = o.beta2,
            .epsilon = o.epsilon,
            .weight_decay = o.weight_decay,
            .decoupled = true},
           at) {}

}  // namespace croze::optim
