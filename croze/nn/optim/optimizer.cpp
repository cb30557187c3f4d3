// optimizer.cpp -- what all optimizers have.
#include "croze/nn/optim/optimizer.h"

#include <utility>

#include "croze/base/error.h"
#include "croze/nn/optim/update.h"

namespace croze::optim {

Optimizer::Optimizer(std::string_view name, std::vector<Tensor> p, double rate, Location at)
    : parameters(std::move(p)) {
  check_parameters(name, parameters, at);
  learning_rate = number_for(parameters, rate);
}

void Optimizer::set_learning_rate(double value) { set_number(learning_rate, value); }
void Optimizer::set_learning_rate(const Tensor& value) { set_number(learning_rate, value); }

MomentOptimizer::MomentOptimizer(std::string_view name, std::vector<Tensor> p, const Numbers& n,
                                 Location at)
    : Optimizer(name, std::move(p), n.learning_rate, at) {
  check(n.beta1 >= 0 && n.beta1 < 1 && n.beta2 >= 0 && n.beta2 < 1, at,
        "{}: beta1 = {} and beta2 = {} must be at least 0 and less than 1", name, n.beta1, n.beta2);
  steps = number_for(parameters, 0);
  mean = zeros_for(parameters);
  variance = zeros_for(parameters);
}

}  // namespace croze::optim
