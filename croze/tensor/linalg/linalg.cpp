// linalg.cpp -- products as a multiplication and a sum over expanded views.
#include "croze/tensor/linalg/linalg.h"

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

// Sum of a * b over `axes`, in the accumulator of their common dtype, returned in that dtype.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Axes& axes, Location at) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const DType wide = is_float(dtype)        ? accumulator(dtype)
                     : dtype == DType::Bool ? DType::Int64
                                            : dtype;
  return sum(a.cast(wide) * b.cast(wide), axes, false, at).cast(dtype);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Location at) {
  const Call call("matmul", {&a, &b}, at);
  call.device();
  call.require(a.ndim() > 0 && b.ndim() > 0, "operands need at least one axis");
  const Tensor left = a.ndim() == 1 ? unsqueeze(a, 0, at) : a;
  const Tensor right = b.ndim() == 1 ? unsqueeze(b, 1, at) : b;
  const std::int64_t inner = left.size(-1), rows = right.size(-2);
  call.require(inner == rows, "the inner sizes {} and {} differ", inner, rows);

  Shape batch[2] = {left.shape(), right.shape()};
  for (Shape& s : batch) {
    s.erase(s.size() - 1);
    s.erase(s.size() - 1);
  }
  call.broadcast(batch);
  // (.., m, 1, k) * (.., 1, n, k) summed over k.
  Tensor result = sum_of_products(unsqueeze(left, -2, at),
                                  unsqueeze(transpose(right, -2, -1, at), -3, at), -1, at);
  if (b.ndim() == 1) result = squeeze(result, -1, at);
  if (a.ndim() == 1) result = squeeze(result, b.ndim() == 1 ? -1 : -2, at);
  return result;
}

Tensor dot(const Tensor& a, const Tensor& b, Location at) {
  const Call call("dot", {&a, &b}, at);
  call.require(a.ndim() == 1 && b.ndim() == 1, "both operands have one axis");
  return matmul(a, b, at);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Location at) {
  const Call call("linear", {&x, &weight, &bias}, at);
  call.require(weight.ndim() == 2, "the weight has two axes: outputs and inputs");
  call.require(x.ndim() > 0 && x.size(-1) == weight.size(1),
               "the last axis of the input must have {} elements", weight.size(1));
  const Tensor product = matmul(x, transpose(weight, 0, 1, at), at);
  if (!bias.defined()) return product;
  call.require(bias.shape() == Shape{weight.size(0)}, "the bias must have {} elements",
               weight.size(0));
  return product + bias;
}

}  // namespace croze
