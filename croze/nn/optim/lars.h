// lars.h -- LARS: descent with momentum whose steps are as long as the parameters are large, for
// large batches (You et al., "Large Batch Training of Convolutional Networks", 2017).  How
// optimizers are used: optimizer.h.
#pragma once

#include <vector>

#include "croze/nn/optim/optimizer.h"

namespace croze::optim {

struct LARSOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 0;
  double trust = 1e-3;  // how far a step goes, as a share of the norm of the parameter
};

struct LARS : Optimizer {
  LARSOptions options;
  std::vector<nn::Buffer> velocity;  // per parameter, at least Float32

  explicit LARS(std::vector<Tensor> parameters, const LARSOptions& options = {},
                Location at = Location::current());

  // With r = trust * |p| / (|g| + weight_decay * |p|), where |x| is the 2-norm of the whole tensor,
  // or r = 1 if |p| or |g| is zero: velocity = momentum * velocity + learning_rate * r *
  // (g + weight_decay * p), and p -= velocity.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());

  template <typename V>
  void visit(V&& v) const {
    Optimizer::visit(v);
    v("velocity", velocity);
  }
};

}  // namespace croze::optim
