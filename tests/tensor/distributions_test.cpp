// Draws have the moments of their distributions.
#include <algorithm>
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

struct Moments {
  double mean, variance;
};

Moments moments_of(const Tensor& x) {
  const std::vector<double> v = x.to_vector<double>();
  double sum = 0, squares = 0;
  for (double d : v) sum += d;
  const double mean = sum / static_cast<double>(v.size());
  for (double d : v) squares += (d - mean) * (d - mean);
  return {mean, squares / static_cast<double>(v.size())};
}

void expect_moments(const Tensor& x, double mean, double variance) {
  const Moments m = moments_of(x);
  const double n = static_cast<double>(x.numel());
  EXPECT_NEAR(m.mean, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(m.variance, variance, 0.1 * variance + 1e-3);
}

TEST(Distributions, Moments) {
  manual_seed(11);
  const Shape shape{20000};
  expect_moments(bernoulli(Tensor::full(shape, 0.3)), 0.3, 0.21);
  expect_moments(normal(Tensor::full(shape, 2.), 3.0), 2, 9);
  expect_moments(exponential(shape, 2), 0.5, 0.25);
  expect_moments(geometric(shape, 0.25), 4, 12);
  expect_moments(log(log_normal(shape, 1, 2)), 1, 4);
  for (double rate : {0.5, 4.0, 15.0, 200.0})
    expect_moments(poisson(Tensor::full(shape, rate)), rate, rate);
  EXPECT_NEAR(median(cauchy(shape, 3, 1)).item<double>(), 3, 0.1);
}

TEST(Distributions, Choices) {
  manual_seed(12);
  const Tensor p = Tensor::from_data({1.f, 0.f, 3.f}, {3});
  const std::vector<int> drawn = multinomial(p, 4000, true).to_vector<int>();
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 0)), 1000, 150);
  const std::vector<int> both = multinomial(p, 2).to_vector<int>();
  EXPECT_EQ(both[0] + both[1], 2);
  EXPECT_EQ(multinomial(Tensor::ones({5, 3}), 2).shape(), (Shape{5, 2}));
  error_of([&] { multinomial(p, 4); });
  std::vector<int> order = randperm(100).to_vector<int>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 100; i++) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Distributions, DropoutOfChannels) {
  manual_seed(13);
  const Tensor y = feature_dropout(Tensor::ones({50, 40, 6}), 0.4, true);
  expect_numbers(y.max(2) - y.min(2), std::vector<double>(2000, 0), 0);
  EXPECT_NEAR(moments_of(y).mean, 1, 0.1);
  const Tensor x = Tensor::randn({40000});
  expect_moments(alpha_dropout(x, 0.3, true), 0, 1);
  EXPECT_TRUE(alpha_dropout(x, 0.3, false).is_same(x));
  error_of([&] { alpha_dropout(x, 1.5, true); });
}

// One step of each cell, written out for one number.
TEST(Recurrent, CellsAreTheirDefinitions) {
  const auto number = [](double v) { return Tensor::from_data({v}, {1, 1}); };
  const auto weights = [](const std::vector<double>& v) {
    return Tensor::from_data(v, {static_cast<std::int64_t>(v.size()), 1});
  };
  const auto biases = [](const std::vector<double>& v) {
    return Tensor::from_data(v, {static_cast<std::int64_t>(v.size())});
  };
  const auto s = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double x = 0.7, h = -0.3, c = 0.4;
  const CellWeights four{weights({0.1, 0.2, 0.3, 0.4}), weights({0.5, -0.6, 0.7, 0.8}),
                         biases({0.01, 0.02, 0.03, 0.04}), biases({0.05, 0.06, 0.07, 0.08})};
  const double i = s(0.1 * x + 0.5 * h + 0.06), f = s(0.2 * x - 0.6 * h + 0.08);
  const double g = std::tanh(0.3 * x + 0.7 * h + 0.1), o = s(0.4 * x + 0.8 * h + 0.12);
  const LstmState next = lstm_cell(number(x), {number(h), number(c)}, four);
  expect_numbers(next.c, {f * c + i * g}, 1e-12);
  expect_numbers(next.h, {o * std::tanh(f * c + i * g)}, 1e-12);
  const CellWeights three{weights({0.1, 0.2, 0.3}), weights({0.5, -0.6, 0.7}),
                          biases({0.01, 0.02, 0.03}), biases({0.05, 0.06, 0.07})};
  const double r = s(0.1 * x + 0.5 * h + 0.06), z = s(0.2 * x - 0.6 * h + 0.08);
  const double n = std::tanh(0.3 * x + 0.03 + r * (0.7 * h + 0.07));
  expect_numbers(gru_cell(number(x), number(h), three), {(1 - z) * n + z * h}, 1e-12);
  const CellWeights one{weights({0.1}), weights({0.5})};
  expect_numbers(rnn_cell(number(x), number(h), one), {std::tanh(0.1 * x + 0.5 * h)}, 1e-12);
  expect_numbers(rnn_cell(number(x), number(-1), one, RnnActivation::Relu), {0}, 1e-12);
}

TEST(Recurrent, SequencesAreStepsOfCells) {
  const TensorOptions wide{.dtype = DType::Float64};
  const auto weights = [&](std::int64_t in, std::uint32_t seed) {
    return CellWeights{
        random_tensor({12, in}, -1, 1, wide, seed), random_tensor({12, 3}, -1, 1, wide, seed + 1),
        random_tensor({12}, -1, 1, wide, seed + 2), random_tensor({12}, -1, 1, wide, seed + 3)};
  };
  const CellWeights layers[] = {weights(2, 1), weights(2, 11)};
  const Tensor x = random_tensor({5, 4, 2}, -1, 1, wide);
  const SequenceResult both = lstm(x, layers, {}, {.bidirectional = true});
  EXPECT_EQ(both.output.shape(), (Shape{5, 4, 6}));
  EXPECT_EQ(both.c.shape(), (Shape{2, 4, 3}));
  LstmState forward{Tensor::zeros({4, 3}, wide), Tensor::zeros({4, 3}, wide)}, backward = forward;
  for (std::int64_t t = 0; t < 5; t++) {
    forward = lstm_cell(x[t], forward, layers[0]);
    backward = lstm_cell(x[4 - t], backward, layers[1]);
    expect_numbers(both.output[t].narrow(1, 0, 3), forward.h.to_vector<double>(), 1e-12);
    expect_numbers(both.output[4 - t].narrow(1, 3, 3), backward.h.to_vector<double>(), 1e-12);
  }
  expect_numbers(both.h[1], backward.h.to_vector<double>(), 1e-12);
  const SequenceResult first =
      lstm(x.transpose(0, 1), std::span(layers, 1), {}, {.batch_first = true});
  expect_numbers(first.output.transpose(0, 1), both.output.narrow(2, 0, 3).to_vector<double>(),
                 1e-12);
  const Tensor w = layers[0].hh;
  const Tensor loss = both.output.square().sum();
  EXPECT_GT(loss.gradient({w})[0].abs().sum().item<double>(), 0);
}

}  // namespace
}  // namespace croze
