// adam.h -- Adam and AdamW.  How optimizers are used: sgd.h.
#pragma once

#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;  // weight decay shrinks the parameters instead of joining the gradient
};

struct Adam {
  std::vector<Tensor> parameters;
  AdamOptions options;
  nn::Buffer learning_rate;                // shape (), Float32
  nn::Buffer steps;                        // shape (), Float32: how many steps were made
  std::vector<nn::Buffer> mean, variance;  // per parameter, at least Float32

  // Throws Error if there are no parameters, one is not a float tensor or stands twice, or unless 0
  // <= beta < 1.
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {},
                Location at = Location::current());

  // With g the gradient (plus weight_decay * p unless decoupled), mean and variance move towards g
  // and g^2 by 1 - beta, and p -= learning_rate * (mean / c1) / (sqrt(variance / c2) + epsilon),
  // where c = 1 - beta^steps; before that, if decoupled, p *= 1 - learning_rate * weight_decay.
  // Throws Error unless there is one gradient of the shape of each parameter.
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
