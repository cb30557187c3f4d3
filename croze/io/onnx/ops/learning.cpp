// learning.cpp -- the operators of training: gradients and steps of optimizers.
#include <cmath>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

constexpr std::string_view training = "ai.onnx.preview.training";

// Derivatives of the sum of `y` by each of `xs`, at the values that the graph has for them.  Inputs
// are the values of xs (and of constants, zs).
Results gradient_of(const NodeCall& call) {
  const std::vector<std::string_view> names = call.texts("xs");
  std::vector<Tensor> targets;
  for (std::size_t i = 0; i < names.size(); i++) {
    targets.push_back(call.named(names[i]).tensor());
  }
  const Tensor y = sum(call.named(call.text("y", "")).tensor());
  Results results;
  for (const Tensor& g : y.gradient(targets)) results.push_back(g);
  return results;
}

// Inputs: rate, number of steps done, then all xs, all gradients, and all states, kind by kind.
struct Step {
  Tensor x, gradient;
  std::vector<Tensor> states;
};

// Outputs: all new xs, then all new states, kind by kind.
template <typename F>
Results each_parameter(const NodeCall& call, int states, F update) {
  const int kinds = 2 + states;
  check((call.num_inputs() - 2) % kinds == 0, "{} inputs for {} kinds", call.num_inputs(), kinds);
  const int count = (call.num_inputs() - 2) / kinds;
  Results results(static_cast<std::size_t>(count * (1 + states)));
  for (int i = 0; i < count; i++) {
    Step step{call[2 + i], call[2 + count + i], {}};
    for (int k = 0; k < states; k++) step.states.push_back(call[2 + (2 + k) * count + i]);
    step.gradient = step.gradient + call.real("norm_coefficient", 0) * step.x;
    update(step);
    results[static_cast<std::size_t>(i)] = step.x;
    for (int k = 0; k < states; k++) {
      results[static_cast<std::size_t>((1 + k) * count + i)] =
          step.states[static_cast<std::size_t>(k)];
    }
  }
  return results;
}

Results adagrad(const NodeCall& call) {
  const auto steps = static_cast<double>(call.integer(1));
  const double rate = call.number(0) / (1 + steps * call.real("decay_factor", 0));
  return each_parameter(call, 1, [&](Step& s) {
    Tensor& squares = s.states[0];
    squares = squares + square(s.gradient);
    s.x = s.x - rate * s.gradient / (sqrt(squares) + call.real("epsilon", 0));
  });
}

Results adam(const NodeCall& call) {
  const auto steps = static_cast<double>(call.integer(1));
  const double alpha = call.real("alpha", static_cast<double>(0.9f));
  const double beta = call.real("beta", static_cast<double>(0.999f));
  double rate = call.number(0);
  if (steps > 0) rate *= std::sqrt(1 - std::pow(beta, steps)) / (1 - std::pow(alpha, steps));
  return each_parameter(call, 2, [&](Step& s) {
    s.states[0] = alpha * s.states[0] + (1 - alpha) * s.gradient;
    s.states[1] = beta * s.states[1] + (1 - beta) * square(s.gradient);
    const Tensor moved = s.x - rate * s.states[0] / (sqrt(s.states[1]) + call.real("epsilon", 0));
    s.x = (1 - call.real("norm_coefficient_post", 0)) * moved;
  });
}

Results momentum(const NodeCall& call) {
  const double rate = call.number(0), alpha = call.real("alpha", 0);
  const double beta = call.integer(1) > 0 ? call.real("beta", 0) : 1;
  const bool nesterov = call.text("mode", "standard") == "nesterov";
  return each_parameter(call, 1, [&](Step& s) {
    Tensor& speed = s.states[0];
    speed = alpha * speed + beta * s.gradient;
    s.x = s.x - rate * (nesterov ? s.gradient + alpha * speed : speed);
  });
}

// clang-format off
constexpr Operator table[] = {
  {"Adagrad", 1, adagrad, training},
  {"Adam", 1, adam, training},
  {"Gradient", 1, gradient_of, training},
  {"Momentum", 1, momentum, training},
};
// clang-format on

}  // namespace

std::span<const Operator> learning_operators() { return table; }

}  // namespace croze::onnx
