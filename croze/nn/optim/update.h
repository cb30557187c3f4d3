// update.h -- internal: what all optimizers do before and after their arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace croze::optim {

// Throws Error, naming the optimizer, unless all parameters are float tensors.
void check_parameters(std::string_view optimizer, const std::vector<Tensor>& parameters);
// Throws Error unless the gradients fit the parameters.
void check_gradients(std::string_view optimizer, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& gradients);

// Zeros of the shapes of the parameters in which optimizers keep averages: half types in Float32.
std::vector<Tensor> zeros_for(const std::vector<Tensor>& parameters);
// x, or x as Float32 if it is of a half type.
Tensor widened(const Tensor& x);

// A number in memory, on the device of the parameters, and another number put in its place.
Tensor number_for(const std::vector<Tensor>& parameters, double value);
void set_number(Tensor& number, double value);

// Computes all of them, unless a step is being captured, which will.
void finish(const std::vector<Tensor>& assigned);

}  // namespace croze::optim
