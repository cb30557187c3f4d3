// lars.h -- LARS: descent with momentum whose steps are as long as the parameters are large, for
// large batches (You et al., "Large Batch Training of Convolutional Networks", 2017).  How
// optimizers are used: sgd.h.
#pragma once

#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct LARSOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 0;
  double trust = 1e-3;  // how far a step goes, as a share of the norm of the parameter
};

struct LARS {
  std::vector<Tensor> parameters;
  LARSOptions options;
  nn::Buffer learning_rate;          // shape (), Float32
  std::vector<nn::Buffer> velocity;  // per parameter, at least Float32

  // Throws Error if there are no parameters, one is not a float tensor or stands twice.
  explicit LARS(std::vector<Tensor> parameters, const LARSOptions& options = {},
                Location at = Location::current());

  // With r = trust * |p| / (|g| + weight_decay * |p|), where |x| is the 2-norm of the whole tensor,
  // or r = 1 if |p| or |g| is zero: velocity = momentum * velocity + learning_rate * r *
  // (g + weight_decay * p), and p -= velocity.  Throws Error unless there is one gradient of the
  // shape of each parameter.
  void step(const std::vector<Tensor>& gradients, const Tensor& when = {},
            Location at = Location::current());
  void set_learning_rate(double value);
  void set_learning_rate(const Tensor& value);  // shape (); can be recorded in a captured step

  // The state of a training, for nn::state_dict: what is not in the model.
  template <typename V>
  void visit(V&& v) const {
    v("learning_rate", learning_rate);
    v("velocity", velocity);
  }
};

}  // namespace croze::optim
