// gradient.h -- gradients beyond Tensor::gradient: given by a function of the user's, and of
// several tensors at once.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze {

// What a given gradient is asked for.
struct GradientRequest {
  std::span<const Tensor> inputs;     // as they were given to with_gradient
  std::span<const Tensor> gradients;  // of the loss by each of the values, of their shapes
  std::vector<bool> wanted;           // by input: whether its gradient is needed
};

// The gradients of the loss by the inputs, in order, of their shapes and dtypes.  A Tensor() where
// none flows; what is not wanted may be one, too.
using GradientFunction = std::function<std::vector<Tensor>(const GradientRequest&)>;

// The values, with a gradient that is given instead of following from how they were recorded: none
// flows into what they were computed from, and what the function returns flows into the inputs.
// A sign whose gradient is that of the identity:
//
//     Tensor s = with_gradient(sign(x), {x}, [](const GradientRequest& r) {
//       return std::vector{r.gradients[0]};
//     });
//
// Results have the shapes and dtypes of the values, float ones.  What the function needs beside
// (the values themselves, say) are inputs that it returns Tensor() for: a tensor that it holds
// itself lives as long as the results can be differentiated, and would never be freed if it were
// computed from them.
//
// The function is called by Tensor::gradient and vjp, once for all values, and not at all if
// nothing is asked for behind it.  It may be called at any later time, by any thread, and several
// times; if it consists of tensor functions, its gradients can be differentiated again.  Throws
// Error for values that are no floats.  Gradients of other shapes or dtypes than their inputs'
// throw Error when they are asked for.
std::vector<Tensor> with_gradient(std::span<const Tensor> values, std::span<const Tensor> inputs,
                                  GradientFunction gradient, Location at = Location::current());
Tensor with_gradient(const Tensor& value, std::initializer_list<Tensor> inputs,
                     GradientFunction gradient, Location at = Location::current());

// Vector-Jacobian products: gradients by each target of the sum of outputs, each weighted element
// by element with the tensor of its shape in `weights`.  What Tensor::gradient says of targets and
// of what can be differentiated holds here.  Throws Error, too, if an output is no float tensor or
// a weight has another shape or dtype.
std::vector<Tensor> vjp(std::span<const Tensor> outputs, std::span<const Tensor> weights,
                        std::span<const Tensor> targets, Location at = Location::current());
std::vector<Tensor> vjp(std::initializer_list<Tensor> outputs,
                        std::initializer_list<Tensor> weights,
                        std::initializer_list<Tensor> targets, Location at = Location::current());

}  // namespace croze
