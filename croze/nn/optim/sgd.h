// sgd.h -- stochastic gradient descent.
//
// All optimizers work alike.  They are made over the parameters of a model and step() is given the
// gradients, in the same order:
//
//     optim::SGD sgd(nn::parameters(model), {.learning_rate = 0.1, .momentum = 0.9});
//     ...
//     sgd.step(loss.gradient(sgd.parameters));
//
// A step is recorded as assignments to the parameters and computed at once, in one schedule,
// together with everything that still needs the old parameters (the loss, say).  In a captured step
// (jit/capture.h) it is part of the capture.  The learning rate is a tensor, so it can change
// between the runs of a captured step, or in them (schedule.h).  Gradients
// may be clipped and added up before (gradients.h).  None passes through an update: the parameters
// are leaves after it, as they were before.
//
// A step may depend on a tensor, `when`: a Bool of shape ().  Where that does not hold it changes
// nothing, neither parameters nor what the optimizer keeps.  loss_scale.h makes use of it.
#pragma once

#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct SGDOptions {
  double learning_rate = 1e-3;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
};

struct SGD {
  std::vector<Tensor> parameters;
  SGDOptions options;
  nn::Buffer learning_rate;          // shape (), Float32
  std::vector<nn::Buffer> velocity;  // per parameter, at least Float32; empty without momentum

  // Throws Error if there are no parameters, one is not a float tensor or stands twice, or for
  // nesterov without momentum.
  explicit SGD(std::vector<Tensor> parameters, const SGDOptions& options = {},
               Location at = Location::current());

  // With g = gradient + weight_decay * p and v = momentum * v + g (v starts at zero):
  // p -= learning_rate * d, where d is g, v with momentum, or g + momentum * v with nesterov.
  // Throws Error unless there is one gradient of the shape of each parameter.
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
