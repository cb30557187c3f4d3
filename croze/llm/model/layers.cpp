// layers.cpp -- products with encoded weights, and norms.
#include "croze/llm/model/layers.h"

#include "croze/llm/model/int8_product.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/network/functional.h"

namespace croze::llm {

Tensor Matrix::operator()(const Tensor& x) const {
  const bool is_in_int8 =
      inputs == ActivationType::Int8 && x.ndim() == 2 && multiplies_in_int8(weight, x.size(0));
  if (!is_in_int8) return linear(x, weight.decoded(), bias);
  const Tensor product = int8_product(x, weight);
  return bias.defined() ? product + bias : product;
}

Tensor Matrix::rows(const Tensor& numbers) const {
  GgufTensor chosen = weight;
  chosen.shape[0] = numbers.numel();
  chosen.stored = index_select(weight.stored, 0, numbers);
  return chosen.decoded();
}

Matrix Matrix::part(std::int64_t begin, std::int64_t count) const {
  Matrix result = *this;
  result.weight.shape[0] = count;
  result.weight.stored = weight.stored.narrow(0, begin, count);
  if (bias.defined()) result.bias = bias.narrow(0, begin, count);
  return result;
}

Tensor Norm::operator()(const Tensor& x) const {
  if (kind == NormKind::None) return x;
  if (weight.defined() && weight.numel() != x.size(-1)) {
    return operator()(x.flatten(-2, -1)).reshape(x.shape());
  }
  return kind == NormKind::RootMeanSquare ? rms_norm(x, 1, weight, epsilon)
                                          : layer_norm(x, 1, weight, bias, epsilon);
}

Tensor activated(const Tensor& x, Activation activation) {
  if (activation == Activation::Silu) return silu(x);
  return gelu(x, activation == Activation::Gelu ? Gelu::Erf : Gelu::Tanh);
}

Tensor FeedForward::operator()(const Tensor& x) const {
  if (!gate) return down(activated(up(x), activation));
  return down(activated((*gate)(x), activation) * up(x));
}

}  // namespace croze::llm
