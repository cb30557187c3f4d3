// update.h -- internal: what all optimizers do before and after their arithmetic.
#pragma once

#include <string_view>
#include <vector>

#include "croze/nn/state.h"

namespace croze::optim {

// Throws Error, naming the optimizer, unless there are parameters, all float tensors and none
// listed twice.
void check_parameters(std::string_view optimizer, const std::vector<Tensor>& parameters,
                      Location at);
// Throws Error unless the gradients fit the parameters.
void check_gradients(std::string_view optimizer, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& gradients, Location at);
// The same, and unless `when` is undefined or a Bool of shape ().
void check_step(std::string_view optimizer, const std::vector<Tensor>& parameters,
                const std::vector<Tensor>& gradients, const Tensor& when, Location at);

// Zeros of the shapes of the parameters in which optimizers keep averages: half types in Float32.
std::vector<nn::Buffer> zeros_for(const std::vector<Tensor>& parameters);
// x, or x as Float32 if it is of a half type.
Tensor widened(const Tensor& x);

// A number in memory, on the device of the parameters, and another number put in its place.
nn::Buffer number_for(const std::vector<Tensor>& parameters, double value);
void set_number(Tensor& number, double value);
void set_number(Tensor& number, const Tensor& value);

// 1 - beta^steps, by which averages that began at zero are divided.
Tensor bias_correction(double beta, const Tensor& steps);

// Assigns the value, if `when` holds or is undefined, and returns the tensor.  No gradient passes
// through an update, so it keeps nothing alive of what it was computed from.
Tensor update(Tensor& tensor, const Tensor& value, const Tensor& when = {});
// Computes all of them, unless a step is being captured, which will.
void finish(const std::vector<Tensor>& assigned);

}  // namespace croze::optim
