// gradients.h -- what is done with gradients before an optimizer's step.
//
// Gradients are values here, so clipping them gives others, and adding up those of the parts of a
// batch is an addition.  In one captured step:
//
//     std::vector<Tensor> sum;
//     for (const Tensor& part : chunk(batch, 4)) {
//       optim::accumulate(sum, (loss_of(part) / 4).gradient(adam.parameters));
//     }
//     adam.step(optim::clip_grad_norm(sum, 1.0).gradients);
//
// The parts of one step are scheduled together, which gives the result of the whole batch and today
// takes its memory too.  Less memory takes a captured step for each part that adds to tensors which
// live on (sum[i].assign(sum[i] + g[i])), and another one that makes the optimizer's step.
#pragma once

#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::optim {

// Adds the gradients, half types as Float32, to the sum, which is empty at first.  Throws Error if
// their numbers or shapes differ.
void accumulate(std::vector<Tensor>& sum, const std::vector<Tensor>& gradients,
                Location at = Location::current());

struct ClippedGradients {
  std::vector<Tensor> gradients;  // of the shapes and dtypes of those given
  Tensor norm;                    // before clipping: shape (), at least Float32
};

// All gradients times min(1, most / (norm + 1e-6)), where norm is the p-norm of all their elements
// together; p may be infinite.  Throws Error if there are none, or unless most > 0 and p > 0.
ClippedGradients clip_grad_norm(const std::vector<Tensor>& gradients, double most, double p = 2,
                                Location at = Location::current());

// Each element within [-most, most].  Throws Error unless most > 0.
std::vector<Tensor> clip_grad_value(const std::vector<Tensor>& gradients, double most,
                                    Location at = Location::current());

}  // namespace croze::optim
