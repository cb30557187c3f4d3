// random.h -- draws from distributions.
//
// All count: for one seed a draw is the same on every device, and each call, and each replay of a
// captured step, draws anew.  Tensor::rand, randn, uniform, randint and manual_seed are in
// tensor.h; random_state() and set_random_state() in run/random_state.h.
#pragma once

#include "croze/run/random_state.h"
#include "croze/tensor/tensor.h"

namespace croze {

// 1 with the probability that each element holds, else 0; dtype and shape of p.
Tensor bernoulli(const Tensor& p, Location at = Location::current());
// Normal with the mean and the deviation of each element, broadcast.
Tensor normal(const Operand& mean, const Operand& deviation);
// exp of a normal draw.
Tensor log_normal(const Shape& shape, double mean = 1, double deviation = 2,
                  const TensorOptions& options = {}, Location at = Location::current());
// Density rate * exp(-rate x); peaked at `median` with that half width; numbers of trials up to the
// first success, each of probability p.
Tensor exponential(const Shape& shape, double rate = 1, const TensorOptions& options = {},
                   Location at = Location::current());
Tensor cauchy(const Shape& shape, double median = 0, double width = 1,
              const TensorOptions& options = {}, Location at = Location::current());
Tensor geometric(const Shape& shape, double p, const TensorOptions& options = {},
                 Location at = Location::current());
// Counts of events of the rate that each element holds; dtype and shape of the rate.
Tensor poisson(const Tensor& rate, Location at = Location::current());
// Class numbers (.., count) drawn by the weights in the rows of p (c) or (n, c), with or without
// putting back.  Throws Error for more draws than classes without putting back.
Tensor multinomial(const Tensor& p, std::int64_t count, bool replacement = false,
                   Location at = Location::current());
// 0 .. n - 1 in random order, Int64.
Tensor randperm(std::int64_t n, const TensorOptions& options = {},
                Location at = Location::current());

// ---- dropout: only when training --------------------------------------------------------------

// Each element is zeroed with probability p, the others are divided by 1 - p.  Throws Error unless
// 0 <= p <= 1, as all of them.
Tensor dropout(const Tensor& x, double p, bool training, Location at = Location::current());
// The same for whole channels: all elements of the first two axes' positions (n, c, ..).
Tensor feature_dropout(const Tensor& x, double p, bool training, Location at = Location::current());
// Elements, or channels, are set to the negative limit of selu, and all scaled to keep mean and
// variance.
Tensor alpha_dropout(const Tensor& x, double p, bool training, Location at = Location::current());
Tensor feature_alpha_dropout(const Tensor& x, double p, bool training,
                             Location at = Location::current());

}  // namespace croze
