// optimizer.h -- how optimizers are used, and what all of them have.
//
// They are made over the parameters of a model and step() is given the gradients, in the same
// order:
//
//     optim::SGD sgd(nn::parameters(model), {.learning_rate = 0.1, .momentum = 0.9});
//     ...
//     sgd.step(loss.gradient(sgd.parameters));
//
// A step is recorded as assignments to the parameters and computed at once, in one schedule,
// together with everything that still needs the old parameters (the loss, say).  In a captured step
// (jit/capture.h) it is part of the capture.  The learning rate is a tensor, so it can change
// between the runs of a captured step, or in them (schedule.h).  Gradients may be clipped and added
// up before (gradients.h).  None passes through an update: the parameters are leaves after it, as
// they were before.
//
// A step may depend on a tensor, `when`: a Bool of shape ().  Where that does not hold it changes
// nothing, neither parameters nor what the optimizer keeps.  loss_scale.h makes use of it.
//
// Constructors throw Error if there are no parameters, one is not a float tensor or stands twice;
// step() throws Error unless there is one gradient of the shape of each parameter.
#pragma once

#include <string_view>
#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct Optimizer {
  std::vector<Tensor> parameters;
  nn::Buffer learning_rate;  // shape (), Float32

  void set_learning_rate(double value);
  void set_learning_rate(const Tensor& value);  // shape (); can be recorded in a captured step

  // The state of a training, for nn::state_dict: what is not in the model.
  template <typename V>
  void visit(V&& v) const {
    v("learning_rate", learning_rate);
  }

 protected:
  Optimizer(std::string_view name, std::vector<Tensor> parameters, double learning_rate,
            Location at);
};

// One that keeps averages of gradients and of their squares.
struct MomentOptimizer : Optimizer {
  nn::Buffer steps;                        // shape (), Float32: how many steps were made
  std::vector<nn::Buffer> mean, variance;  // per parameter, at least Float32

  template <typename V>
  void visit(V&& v) const {
    Optimizer::visit(v);
    v("steps", steps);
    v("mean", mean);
    v("variance", variance);
  }

 protected:
  struct Numbers {
    double learning_rate, beta1, beta2;
  };
  // Throws Error unless 0 <= beta < 1, too.
  MomentOptimizer(std::string_view name, std::vector<Tensor> parameters, const Numbers& numbers,
                  Location at);
};

}  // namespace croze::optim
