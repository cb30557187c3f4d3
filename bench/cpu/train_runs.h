// train_runs.h -- runs of whole training steps: a loss, its gradients, the update.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cpu/case.h"
#include "croze/jit/capture.h"
#include "croze/nn/nn.h"

namespace croze::bench {

// Parameters are numbers by the formula of inputs, with seeds from here on, in the order in which
// PyTorch has them.
inline constexpr unsigned first_seed = 100;

template <typename Model>
void start(const Model& model) {
  std::vector<Tensor> all = nn::parameters(model);
  for (std::size_t i = 0; i < all.size(); i++) {
    const Shape shape = all[i].shape();
    const double fan_in = static_cast<double>(shape.size() > 1 ? shape.numel() / shape[0] : 1);
    const Tensor numbers = input_tensor({shape}, first_seed + static_cast<unsigned>(i));
    all[i].assign(numbers / std::sqrt(fan_in));
  }
  for (const NamedTensor& named : nn::state_dict(model)) {
    if (named.name.find("running_") == std::string::npos) continue;
    all.push_back(named.tensor);
    all.back().assign(Tensor::ones(named.tensor.shape()));
  }
  realize(all);
}

// Runs of a step that updates the model; its result is the loss of the first one.
template <typename Model, typename Optimizer, typename Loss>
Runs runs_of(std::shared_ptr<Model> model, Optimizer make_optimizer, Loss loss_of) {
  start(*model);
  using Held = decltype(make_optimizer(nn::parameters(*model)));
  const auto optimizer = std::make_shared<Held>(make_optimizer(nn::parameters(*model)));
  const auto train = [=] {
    const Tensor loss = loss_of(*model);
    optimizer->step(loss.gradient(optimizer->parameters));
    return loss;
  };
  auto step = std::make_shared<decltype(capture(train))>(capture(train));
  const Tensor first = (*step)();
  return {
      .kept = [step] { (*step)(); }, .results = {first}, .kernels = step->step().summary().kernels};
}

inline const auto adam = [](const std::vector<Tensor>& parameters) {
  return optim::Adam(parameters, optim::AdamOptions{});
};
inline const auto sgd = [](const std::vector<Tensor>& parameters) {
  return optim::SGD(parameters, {.learning_rate = 0.01, .momentum = 0.9});
};

}  // namespace croze::bench
