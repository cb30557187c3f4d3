// activation.h -- the activation functions of torch.nn.functional.
//
// Elementwise unless an axis is named.  Float results: integers are taken as Float32, half types
// compute in Float32.  NaN stays NaN.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// 1 / (1 + exp(-x)), and its logarithm.
Tensor sigmoid(const Tensor& x, Location at = Location::current());
Tensor logsigmoid(const Tensor& x, Location at = Location::current());
// x * sigmoid(x).
Tensor silu(const Tensor& x, Location at = Location::current());
// x times the normal distribution function of x, through erf or through its tanh approximation.
enum class Gelu { Erf, Tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::Erf, Location at = Location::current());
// x * sigmoid(1.702 x).
Tensor quick_gelu(const Tensor& x, Location at = Location::current());
// log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold.
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20,
                Location at = Location::current());
// x / (1 + |x|).
Tensor softsign(const Tensor& x, Location at = Location::current());
// x * tanh(softplus(x)).
Tensor mish(const Tensor& x, Location at = Location::current());
// x - tanh(x).
Tensor tanhshrink(const Tensor& x, Location at = Location::current());

// max(x, 0) of any dtype; gradient 0 at 0.
Tensor relu(const Tensor& x, Location at = Location::current());
// relu, at most 6.
Tensor relu6(const Tensor& x, Location at = Location::current());
// slope * x below 0; for prelu one slope, or one per channel (axis 1).
Tensor leaky_relu(const Tensor& x, double slope = 0.01, Location at = Location::current());
Tensor prelu(const Tensor& x, const Tensor& slope, Location at = Location::current());
// leaky_relu with a slope drawn from [low, high) for each element when training, and with their
// mean otherwise.
Tensor rrelu(const Tensor& x, double low = 1. / 8, double high = 1. / 3, bool training = false,
             Location at = Location::current());
// alpha * (exp(x) - 1) below 0; celu with exp(x / alpha); selu scaled to keep mean and variance.
Tensor elu(const Tensor& x, double alpha = 1, Location at = Location::current());
Tensor celu(const Tensor& x, double alpha = 1, Location at = Location::current());
Tensor selu(const Tensor& x, Location at = Location::current());
// x limited to [low, high].
Tensor hardtanh(const Tensor& x, double low = -1, double high = 1,
                Location at = Location::current());
// relu6(x + 3) / 6, and x times it.
Tensor hardsigmoid(const Tensor& x, Location at = Location::current());
Tensor hardswish(const Tensor& x, Location at = Location::current());
// 0 where |x| <= lambda; elsewhere x, or x moved by lambda towards 0.
Tensor hardshrink(const Tensor& x, double lambda = 0.5, Location at = Location::current());
Tensor softshrink(const Tensor& x, double lambda = 0.5, Location at = Location::current());
// x where it is above the threshold, else `value`.  Dtype of x.
Tensor threshold(const Tensor& x, double threshold, double value,
                 Location at = Location::current());

// The first half of the axis times the sigmoid of the second half.
Tensor glu(const Tensor& x, std::int64_t axis = -1, Location at = Location::current());
// softmax(-x).
Tensor softmin(const Tensor& x, std::int64_t axis = -1, Location at = Location::current());
// softmax((x + noise) / tau) with noise of the Gumbel distribution: a differentiable draw from
// the distribution softmax(x).  If hard, one-hot in value, with the gradient of the soft one.
Tensor gumbel_softmax(const Tensor& x, double tau = 1, bool hard = false, std::int64_t axis = -1,
                      Location at = Location::current());

}  // namespace croze
