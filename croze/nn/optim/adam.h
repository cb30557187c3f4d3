// adam.h -- Adam and AdamW.  How optimizers are used: optimizer.h.
#pragma once

#include <vector>

#include "croze/nn/optim/optimizer.h"

namespace croze::optim {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // weight decay shrinks the parameters instead of joining the gradient
};

struct Adam : MomentOptimizer {
  AdamOptions options;

  // Throws Error unless 0 <= beta < 1, too.
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {},
                Location at = Location::current());

  // With g the gradient (plus weight_decay * p unless decoupled), mean and variance move towards g
  // and g^2 by 1 - beta, and p -= learning_rate * (mean / c1) / (sqrt(variance / c2) + epsilon),
  // where c = 1 - beta^steps; before that, if decoupled, p *= 1 - learning_rate * weight_decay.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());

  template <typename V>
  void visit(V&& v) const {
    MomentOptimizer::visit(v);
  }
};

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;
};

// Adam with decoupled weight decay.
struct AdamW : Adam {
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {},
                 Location at = Location::current());
};

}  // namespace croze::optim
