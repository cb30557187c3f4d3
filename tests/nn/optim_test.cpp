// Optimizers against the same formulas computed in double on the host, step by step.
#include <cmath>
#include <functional>

#include "croze/run/buffers.h"
#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

const std::vector<double> start = {1, -2, 0.5};

Tensor parameter(DType dtype = DType::Float32) {
  return Tensor::from_data(start, {3}, {.dtype = dtype}).realize();
}

// Gradients of a function with a different slope everywhere and at every step.
std::vector<double> slope(const std::vector<double>& p, int step) {
  std::vector<double> g;
  for (double x : p) g.push_back(2 * x + 0.3 * step - std::sin(x));
  return g;
}
Tensor slope(const Tensor& p, int step) { return 2 * p + 0.3 * step - sin(p); }

// Runs an optimizer for some steps and compares it with `reference`, which makes one step.
using HostStep =
    std::function<void(std::vector<double>& p, const std::vector<double>& g, int step)>;

template <typename Optimizer>
void expect_steps(Optimizer& optimizer, const HostStep& reference) {
  std::vector<double> expected = start;
  Tensor& p = optimizer.parameters[0];
  for (int step = 1; step <= 5; step++) {
    reference(expected, slope(expected, step), step);
    optimizer.step({slope(p, step)});
    expect_near(p, expected, 2e-6);
  }
}

TEST(SGD, FollowsTheGradient) {
  optim::SGD sgd({parameter()}, {.learning_rate = 0.1});
  expect_steps(sgd, [](auto& p, const auto& g, int) {
    for (std::size_t i = 0; i < p.size(); i++) p[i] -= 0.1 * g[i];
  });
}

void expect_momentum(bool nesterov) {
  optim::SGD sgd(
      {parameter()},
      {.learning_rate = 0.1, .momentum = 0.9, .nesterov = nesterov, .weight_decay = 0.01});
  std::vector<double> velocity(3);
  expect_steps(sgd, [&](auto& p, const auto& gradient, int) {
    for (std::size_t i = 0; i < p.size(); i++) {
      const double g = gradient[i] + 0.01 * p[i];
      velocity[i] = 0.9 * velocity[i] + g;
      p[i] -= 0.1 * (nesterov ? g + 0.9 * velocity[i] : velocity[i]);
    }
  });
}

TEST(SGD, HasMomentumAndWeightDecay) { expect_momentum(false); }
TEST(SGD, HasNesterovMomentum) { expect_momentum(true); }

void expect_adam(bool decoupled) {
  optim::Adam adam({parameter()},
                   {.learning_rate = 0.1, .weight_decay = 0.05, .decoupled = decoupled});
  std::vector<double> m(3), v(3);
  expect_steps(adam, [&](auto& p, const auto& gradient, int step) {
    for (std::size_t i = 0; i < p.size(); i++) {
      const double g = gradient[i] + (decoupled ? 0 : 0.05 * p[i]);
      if (decoupled) p[i] *= 1 - 0.1 * 0.05;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      p[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, step))) /
              (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
    }
  });
}

TEST(Adam, AgreesWithItsFormula) { expect_adam(false); }
TEST(Adam, DecouplesWeightDecayWhenAsked) { expect_adam(true); }

TEST(AdamW, IsAdamWithDecoupledDecay) {
  optim::AdamW a({parameter()}, {.learning_rate = 0.1});
  optim::Adam b({parameter()}, {.learning_rate = 0.1, .weight_decay = 0.01, .decoupled = true});
  for (int step = 0; step < 3; step++) {
    a.step({slope(a.parameters[0], step)});
    b.step({slope(b.parameters[0], step)});
  }
  EXPECT_EQ(a.parameters[0].to_vector<float>(), b.parameters[0].to_vector<float>());
}

double norm_of(const std::vector<double>& x) {
  double sum = 0;
  for (double e : x) sum += e * e;
  return std::sqrt(sum);
}

// Algorithm 2 of the paper, with bias correction.
TEST(LAMB, AgreesWithItsFormula) {
  optim::LAMB lamb({parameter()}, {.learning_rate = 0.05, .weight_decay = 0.1});
  std::vector<double> m(3), v(3), d(3);
  expect_steps(lamb, [&](auto& p, const auto& g, int step) {
    for (std::size_t i = 0; i < p.size(); i++) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      d[i] = m[i] / (1 - std::pow(0.9, step)) /
                 (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-6) +
             0.1 * p[i];
    }
    const double ratio = norm_of(p) / norm_of(d);
    for (std::size_t i = 0; i < p.size(); i++) p[i] -= 0.05 * ratio * d[i];
  });
}

// Algorithm 1 of the paper.
TEST(LARS, AgreesWithItsFormula) {
  optim::LARS lars({parameter()}, {.learning_rate = 2, .weight_decay = 0.1, .trust = 0.02});
  std::vector<double> velocity(3);
  expect_steps(lars, [&](auto& p, const auto& g, int) {
    const double rate = 0.02 * norm_of(p) / (norm_of(g) + 0.1 * norm_of(p));
    for (std::size_t i = 0; i < p.size(); i++) {
      velocity[i] = 0.9 * velocity[i] + 2 * rate * (g[i] + 0.1 * p[i]);
    }
    for (std::size_t i = 0; i < p.size(); i++) p[i] -= velocity[i];
  });
}

// A parameter of zeros would never move, and one without a gradient would become NaN.
TEST(LAMB, TakesPlainStepsWhereANormIsZero) {
  optim::LAMB lamb({Tensor::zeros({2}).realize(), Tensor::ones({2}).realize()},
                   {.learning_rate = 0.5});
  lamb.step({Tensor::ones({2}), Tensor::zeros({2})});
  expect_near(lamb.parameters[0], {-0.5, -0.5}, 1e-5);
  expect_near(lamb.parameters[1], {1, 1}, 0);
}

TEST(LARS, TakesPlainStepsWhereANormIsZero) {
  optim::LARS lars({Tensor::zeros({2}).realize(), Tensor::ones({2}).realize()},
                   {.learning_rate = 0.5});
  lars.step({Tensor::ones({2}), Tensor::zeros({2})});
  expect_near(lars.parameters[0], {-0.5, -0.5}, 0);
  expect_near(lars.parameters[1], {1, 1}, 0);
}

template <typename Optimizer>
void expect_no_step(Optimizer optimizer) {
  const auto state = [&] {
    std::vector<std::vector<float>> values{optimizer.parameters[0].template to_vector<float>()};
    for (const NamedTensor& t : nn::state_dict(optimizer)) {
      values.push_back(t.tensor.template to_vector<float>());
    }
    return values;
  };
  const Tensor yes = Tensor::from_data({true}, {}), no = Tensor::from_data({false}, {});
  const Shape shape = optimizer.parameters[0].shape();
  optimizer.step({Tensor::ones(shape)}, yes);
  const auto before = state();
  optimizer.step({Tensor::full(shape, NAN)}, no);
  EXPECT_EQ(state(), before);
  optimizer.step({Tensor::ones(shape)}, yes);
  EXPECT_NE(state(), before);
}

TEST(Optimizers, ChangeNothingWhereAStepIsNotToBeMade) {
  expect_no_step(optim::SGD({parameter()}, {.learning_rate = 0.1, .momentum = 0.9}));
  expect_no_step(optim::Adam({parameter()}));
  expect_no_step(optim::LAMB({parameter()}));
  expect_no_step(optim::LARS({parameter()}));
  expect_no_step(optim::Muon({Tensor::ones({2, 3}).realize()}));
}

TEST(SGD, KeepsTheMomentumOfHalfTypesInFloat32) {
  optim::SGD sgd({parameter(DType::BFloat16)}, {.learning_rate = 1, .momentum = 0.5});
  EXPECT_EQ(sgd.velocity[0].dtype(), DType::Float32);
  // Steps of 2^-12 vanish in bfloat16 next to 1; in the velocity they add up to 2^-11.
  const Tensor g = Tensor::full({3}, std::ldexp(1.0, -12));
  for (int step = 0; step < 30; step++) sgd.step({g});
  expect_near(sgd.velocity[0], std::vector<double>(3, std::ldexp(1.0, -11)), 1e-6);
  EXPECT_EQ(sgd.parameters[0].dtype(), DType::BFloat16);
}

TEST(Optimizers, ChangeTheirLearningRate) {
  optim::SGD sgd({parameter()}, {.learning_rate = 1});
  const Tensor g = Tensor::ones({3});
  sgd.step({g});
  expect_near(sgd.parameters[0], {0, -3, -0.5}, 1e-6);
  sgd.set_learning_rate(0.5);
  sgd.step({g});
  expect_near(sgd.parameters[0], {-0.5, -3.5, -1}, 1e-6);
}

TEST(Optimizers, ComputeTheLossWithTheOldParameters) {
  Tensor p = parameter();
  optim::SGD sgd({p}, {.learning_rate = 0.1});
  const Tensor loss = p.square().sum();
  sgd.step(loss.gradient(sgd.parameters));
  EXPECT_NEAR(loss.item<double>(), 5.25, 1e-5);
  EXPECT_NEAR(p.square().sum().item<double>(), 5.25 * 0.64, 1e-5);
}

// Nor does a loss that is kept, of the steps before its own.
TEST(Optimizers, KeepNothingOfTheStepsBefore) {
  Tensor p = Tensor::ones({100'000}).realize();
  optim::Adam adam({p}, {});
  std::vector<Tensor> losses;
  const std::int64_t before = memory_use().bytes;
  for (int step = 0; step < 100; step++) {
    const Tensor batch = Tensor::rand({100'000}).realize();
    losses.push_back((p * batch).square().sum());
    adam.step(losses.back().gradient(adam.parameters));
  }
  EXPECT_LT(memory_use().bytes - before, 8 << 20);
}

// The averages were computed from gradients; no later gradient asks how.
TEST(Optimizers, LetGoOfTheGradientsOfAStep) {
  Tensor p = Tensor::ones({100'000}).realize();
  optim::Adam adam({p}, {});
  const Tensor batch = Tensor::rand({100'000}).realize();
  const std::int64_t before = memory_use().bytes;
  const Tensor loss = (p * batch).square().sum();
  adam.step(loss.gradient(adam.parameters));
  loss.item<float>();  // what was left before is freed here
  EXPECT_LT(memory_use().bytes - before, 100'000);
}

TEST(Optimizers, EndTheGradient) {
  const Tensor scale = Tensor::from_data({2.f}, {1});
  Tensor p = parameter();
  optim::SGD sgd({p}, {.learning_rate = 0.1, .momentum = 0.9});
  sgd.step((p * scale).square().sum().gradient({p}));
  const auto g = p.sum().gradient({p, scale});
  expect_near(g[0], {1, 1, 1}, 0);
  expect_near(g[1], {0}, 0);
}

TEST(Optimizers, SaveAndRestoreTheirState) {
  optim::Adam a({parameter()}, {.learning_rate = 0.1});
  for (int step = 0; step < 3; step++) a.step({slope(a.parameters[0], step)});
  optim::Adam b({parameter()}, {.learning_rate = 0.3});
  nn::load_state_dict(b, nn::state_dict(a));
  b.parameters[0].assign(a.parameters[0]).realize();
  a.step({slope(a.parameters[0], 3)});
  b.step({slope(b.parameters[0], 3)});
  EXPECT_EQ(a.parameters[0].to_vector<float>(), b.parameters[0].to_vector<float>());
}

TEST(Optimizers, TrainAModel) {
  manual_seed(7);
  nn::Linear hidden(2, 16), output(16, 1);
  const Tensor x = Tensor::uniform({64, 2}, -1, 1).realize();
  const Tensor y = x.prod(1, true).realize();
  optim::Adam adam(nn::parameters(std::array{hidden, output}), {.learning_rate = 0.03});
  const auto loss = [&] { return mse_loss(output(tanh(hidden(x))), y); };
  const double before = loss().item<double>();
  for (int step = 0; step < 60; step++) adam.step(loss().gradient(adam.parameters));
  EXPECT_LT(loss().item<double>(), before / 5);
}

TEST(Optimizers, RefuseWhatDoesNotFit) {
  const Tensor integers = Tensor::from_data({1, 2}, {2});
  EXPECT_NE(error_of([&] { optim::SGD sgd({integers}); }).find("int32"), std::string::npos);
  EXPECT_NE(error_of([&] { optim::Adam adam({integers}); }).find("Adam"), std::string::npos);
  EXPECT_NE(error_of([&] { optim::SGD sgd({parameter()}, {.nesterov = true}); }), "");
  EXPECT_NE(error_of([&] { optim::Adam adam({parameter()}, {.beta1 = 1}); }), "");
  optim::SGD sgd({parameter()});
  EXPECT_NE(error_of([&] { sgd.step({}); }).find("0 gradients for 1"), std::string::npos);
  EXPECT_NE(error_of([&] { sgd.step({Tensor::ones({2})}); }).find("(2,)"), std::string::npos);
  EXPECT_NE(error_of([&] { sgd.step({Tensor::ones({3})}, Tensor::ones({3})); }).find("one bool"),
            std::string::npos);
  EXPECT_NE(error_of([&] { optim::LAMB lamb({integers}); }).find("LAMB"), std::string::npos);
  EXPECT_NE(error_of([&] { optim::LAMB lamb({parameter()}, {.beta2 = 1}); }), "");
  EXPECT_NE(error_of([&] { optim::LARS lars({integers}); }).find("LARS"), std::string::npos);
  EXPECT_NE(error_of([&] { optim::Muon muon({parameter()}); }).find("(3,)"), std::string::npos);
}

}  // namespace
}  // namespace croze
