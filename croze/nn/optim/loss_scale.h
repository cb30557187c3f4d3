// loss_scale.h -- loss scaling: small gradients kept from vanishing in half types.
//
// In Float16 what is less than 6e-8 is zero, and many gradients are.  So the loss is multiplied by
// a large number before gradients are taken, and the gradients are divided by it in Float32.  Where
// one of them overflows the step is left out and the number is made smaller; after many steps
// without that it is made larger.  All of it is part of a captured step:
//
//     optim::LossScale scale;
//     auto step = capture([&](const Tensor& x, const Tensor& y) {
//       const Tensor loss = ...;
//       const optim::ScaledGradients g = scale.unscaled(scale(loss).gradient(adam.parameters));
//       adam.step(optim::clip_grad_norm(g.gradients, 1).gradients, g.are_finite);
//       scale.adjust(g.are_finite);
//       return loss;
//     });
//
// The rule and its numbers are those of PyTorch's GradScaler.
#pragma once

#include <string_view>
#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

struct LossScaleOptions {
  double first = 65536;  // the scale at the start
  double growth = 2;     // its factor after `interval` steps with finite gradients
  double backoff = 0.5;  // and after one without
  double interval = 2000;
  std::string_view device = {};
};

struct ScaledGradients {
  std::vector<Tensor> gradients;  // at least Float32
  Tensor are_finite;              // shape (), Bool: whether all elements are
};

struct LossScale {
  LossScaleOptions options;
  nn::Buffer scale;         // shape (), Float32
  nn::Buffer finite_steps;  // shape (), Float32: since the scale has changed

  // Throws Error unless first > 0, growth >= 1, 0 < backoff <= 1 and interval >= 1.
  explicit LossScale(const LossScaleOptions& options = {}, Location at = Location::current());

  // The loss times the scale, at least Float32.
  Tensor operator()(const Tensor& loss) const;
  // The gradients of a loss that was scaled, divided by the scale.  Throws Error if there are none.
  ScaledGradients unscaled(const std::vector<Tensor>& gradients,
                           Location at = Location::current()) const;
  // Once a step, behind those that use the scale.
  void adjust(const Tensor& are_finite, Location at = Location::current());

  // The state of a training, for nn::state_dict.
  template <typename V>
  void visit(V&& v) const {
    v("scale", scale);
    v("finite_steps", finite_steps);
  }
};

}  // namespace croze::optim
