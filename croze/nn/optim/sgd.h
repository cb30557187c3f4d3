// sgd.h -- stochastic gradient descent.  How optimizers are used: optimizer.h.
#pragma once

#include <vector>

#include "croze/nn/optim/optimizer.h"

namespace croze::optim {

struct SGDOptions {
  double learning_rate = 1e-3;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
};

struct SGD : Optimizer {
  SGDOptions options;
  std::vector<nn::Buffer> velocity;  // per parameter, at least Float32; empty without momentum

  // Throws Error for nesterov without momentum.
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {},
               Location at = Location::current());

  // With g = gradient + weight_decay * p and v = momentum * v + g (v starts at zero):
  // p -= learning_rate * d, where d is g, v with momentum, or g + momentum * v with nesterov.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());

  template <typename V>
  void visit(V&& v) const {
    Optimizer::visit(v);
    v("velocity", velocity);
  }
};

}  // namespace croze::optim
