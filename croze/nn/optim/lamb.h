// lamb.h -- LAMB: Adam whose steps are as long as the parameters are large, for large batches (You
// et al., "Large Batch Optimization for Deep Learning", 2019).  How optimizers are used: sgd.h.
#pragma once

#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct LAMBOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;
};

struct LAMB {
  std::vector<Tensor> parameters;
  LAMBOptions options;
  nn::Buffer learning_rate;                // shape (), Float32
  nn::Buffer steps;                        // shape (), Float32: how many steps were made
  std::vector<nn::Buffer> mean, variance;  // per parameter, at least Float32

  // Throws Error if there are no parameters, one is not a float tensor or stands twice, or unless 0
  // <= beta < 1.
  explicit LAMB(std::vector<Tensor> parameters, const LAMBOptions& options = {},
                Location at = Location::current());

  // With d Adam's direction, (mean / c1) / (sqrt(variance / c2) + epsilon), plus weight_decay * p:
  // p -= learning_rate * |p| / |d| * d, where |x| is the 2-norm of the whole tensor and the ratio
  // is 1 if either is zero.  Throws Error unless there is one gradient of the shape of each
  // parameter.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());
  void set_learning_rate(double value);
  void set_learning_rate(const Tensor& value);  // shape (); can be recorded in a captured step

  // The state of a training, for nn::state_dict: what is not in the model.
  template <typename V>
  void visit(V&& v) const {
    v("learning_rate", learning_rate);
    v("steps", steps);
    v("mean", mean);
    v("variance", variance);
  }
};

}  // namespace croze::optim
