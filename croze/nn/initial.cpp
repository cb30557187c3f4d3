// initial.cpp -- the values that parameters start from.
#include "croze/nn/initial.h"

namespace croze::nn {

Tensor constant(const Shape& shape, double value, const TensorOptions& options, Location at) {
  return Tensor::full(shape, value, options, at).realize(at);
}

Tensor within(double bound, const Shape& shape, const TensorOptions& options, Location at) {
  return Tensor::uniform(shape, -bound, bound, options, at).realize(at);
}

}  // namespace croze::nn
