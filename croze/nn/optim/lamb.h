// lamb.h -- LAMB: Adam whose steps are as long as the parameters are large, for large batches (You
// et al., "Large Batch Optimization for Deep Learning", 2019).  How optimizers are used:
// optimizer.h.
#pragma once

#include <vector>

#include "croze/nn/optim/optimizer.h"

namespace croze::optim {

struct LAMBOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;
};

struct LAMB : MomentOptimizer {
  LAMBOptions options;

  // Throws Error unless 0 <= beta < 1, too.
  explicit LAMB(std::vector<Tensor> parameters, const LAMBOptions& options = {},
                Location at = Location::current());

  // With d Adam's direction, (mean / c1) / (sqrt(variance / c2) + epsilon), plus weight_decay * p:
  // p -= learning_rate * |p| / |d| * d, where |x| is the 2-norm of the whole tensor and the ratio
  // is 1 if either is zero.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());

  template <typename V>
  void visit(V&& v) const {
    MomentOptimizer::visit(v);
  }
};

}  // namespace croze::optim
