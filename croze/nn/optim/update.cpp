// update.cpp -- what all optimizers do before and after their arithmetic.
#include "croze/nn/optim/update.h"

#include <cmath>

#include "croze/base/error.h"
#include "croze/jit/capture.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/print.h"

namespace croze::optim {

void check_parameters(std::string_view optimizer, const std::vector<Tensor>& parameters,
                      Location at) {
  check(!parameters.empty(), at, "{}: there are no parameters to train", optimizer);
  for (std::size_t i = 0; i < parameters.size(); i++) {
    check(parameters[i].defined(), at, "{}: parameter {} is not defined", optimizer, i);
    const DType dtype = parameters[i].dtype();
    check(is_float(dtype), at, "{}: parameter {} is a tensor of {}, not of a float dtype",
          optimizer, i, name_of(dtype));
    for (std::size_t j = 0; j < i; j++) {
      check(!parameters[j].is_same(parameters[i]), at,
            "{}: parameters {} and {} are the same tensor", optimizer, j, i);
    }
  }
}

void check_gradients(std::string_view optimizer, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& gradients, Location at) {
  check(gradients.size() == parameters.size(), at, "{}: {} gradients for {} parameters", optimizer,
        gradients.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Shape expected = parameters[i].shape(), found = gradients[i].shape();
    check(expected == found, at, "{}: the gradient of parameter {} has shape {}, the parameter {}",
          optimizer, i, found, expected);
  }
}

void check_step(std::string_view optimizer, const std::vector<Tensor>& parameters,
                const std::vector<Tensor>& gradients, const Tensor& when, Location at) {
  check_gradients(optimizer, parameters, gradients, at);
  check(!when.defined() || (when.dtype() == DType::Bool && when.ndim() == 0), at,
        "{}: whether the step is made must be one bool", optimizer);
}

std::vector<nn::Buffer> zeros_for(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> zeros;
  for (const Tensor& p : parameters) {
    zeros.push_back(Tensor::zeros_like(p, {.dtype = accumulator(p.dtype())}));
  }
  realize(zeros);
  return {zeros.begin(), zeros.end()};
}

Tensor widened(const Tensor& x) { return x.cast(accumulator(x.dtype())); }

nn::Buffer number_for(const std::vector<Tensor>& parameters, double value) {
  return Tensor::from_data({static_cast<float>(value)}, {},
                           {.dtype = {}, .device = parameters[0].device()});
}

void set_number(Tensor& number, double value) {
  // Copied from memory, not stored as a constant: no kernel depends on the value.
  set_number(number, Tensor::from_data({static_cast<float>(value)}, {},
                                       {.dtype = {}, .device = number.device()}));
}

void set_number(Tensor& number, const Tensor& value) { finish({update(number, value)}); }

// Not by pow: near the start the difference would lose most of its digits.
Tensor bias_correction(double beta, const Tensor& steps) {
  return beta == 0 ? Tensor::ones_like(steps) : -expm1(steps * std::log(beta));
}

Tensor update(Tensor& tensor, const Tensor& value, const Tensor& when) {
  return tensor.assign((when.defined() ? where(when, value, tensor) : value).detach());
}

void finish(const std::vector<Tensor>& assigned) {
  if (!is_capturing()) realize(assigned);
}

}  // namespace croze::optim
