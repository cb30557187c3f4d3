// update.cpp -- what all optimizers do before and after their arithmetic.
#include "nn/optim/update.h"

#include "base/error.h"
#include "jit/capture.h"

namespace croze::optim {

void check_parameters(std::string_view optimizer, const std::vector<Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const DType dtype = parameters[i].dtype();
    check(is_float(dtype), "{}: parameter {} is a tensor of {}, not of a float dtype", optimizer, i,
          name_of(dtype));
  }
}

void check_gradients(std::string_view optimizer, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& gradients) {
  check(gradients.size() == parameters.size(), "{}: {} gradients for {} parameters", optimizer,
        gradients.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const Shape expected = parameters[i].shape(), found = gradients[i].shape();
    check(expected == found, "{}: the gradient of parameter {} has shape {}, the parameter {}",
          optimizer, i, to_text(found), to_text(expected));
  }
}

std::vector<Tensor> zeros_for(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> zeros;
  for (const Tensor& p : parameters) {
    zeros.push_back(Tensor::zeros_like(p, {.dtype = accumulator(p.dtype())}));
  }
  realize(zeros);
  return zeros;
}

Tensor widened(const Tensor& x) { return x.cast(accumulator(x.dtype())); }

Tensor number_for(const std::vector<Tensor>& parameters, double value) {
  const std::string_view device = parameters.empty() ? "" : parameters[0].device();
  return Tensor::from_data({static_cast<float>(value)}, {}, {.dtype = {}, .device = device});
}

void set_number(Tensor& number, double value) {
  // Copied from memory, not stored as a constant: no kernel depends on the value.
  number.assign(
      Tensor::from_data({static_cast<float>(value)}, {}, {.dtype = {}, .device = number.device()}));
  finish({number});
}

void finish(const std::vector<Tensor>& assigned) {
  if (!is_capturing()) realize(assigned);
}

}  // namespace croze::optim
