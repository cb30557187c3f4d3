// layers.cpp -- starting values and calls of the layers.
#include "croze/nn/layers.h"

#include <cmath>

#include "croze/base/error.h"
#include "croze/nn/initial.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/random/random.h"

namespace croze::nn {

Linear::Linear(std::int64_t in, std::int64_t out, const LinearOptions& options, Location at) {
  check(in > 0 && out > 0, at, "Linear: {} inputs and {} outputs", in, out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = within(bound, {out, in}, options.tensor, at);
  if (options.bias) bias = within(bound, {out}, options.tensor, at);
}

Embedding::Embedding(std::int64_t count, std::int64_t width, const TensorOptions& options,
                     Location at) {
  check(count > 0 && width > 0, at, "Embedding: {} rows of {}", count, width);
  weight = Tensor::randn({count, width}, options, at).realize(at);
}

Tensor Embedding::operator()(const Tensor& numbers, Location at) const {
  return embedding(weight, numbers, {}, at);
}

Tensor Dropout::operator()(const Tensor& x, bool training, Location at) const {
  return dropout(x, p, training, at);
}

}  // namespace croze::nn
