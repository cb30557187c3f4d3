// What belongs to a training beside the optimizer: schedules of the rate, clipped and accumulated
// gradients.  Rates are compared with PyTorch's formulas, worked out by hand.
#include <cmath>

#include "croze/jit/scan.h"
#include "croze/run/execute.h"
#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

// The rates after 0, 1, .. steps are those expected, on the host and recorded.
void expect_rates(const optim::Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); i++) {
    EXPECT_NEAR(schedule(static_cast<double>(i)), expected[i], 1e-12) << "step " << i;
  }
  expect_near(schedule(Tensor::arange(static_cast<int>(expected.size()))), expected, 1e-6);
}

TEST(Schedule, ConstantAndLinear) {
  expect_rates(optim::constant_rate(0.5), {0.5, 0.5, 0.5});
  expect_rates(optim::linear_rate(0, 1, 4), {0, 0.25, 0.5, 0.75, 1, 1, 1});
  expect_rates(optim::linear_rate(1, 0.5, 2), {1, 0.75, 0.5, 0.5});
}

TEST(Schedule, CosineFallsAlongHalfAWave) {
  const double h = std::sqrt(0.5);
  expect_rates(optim::cosine_rate(2, 4), {2, 1 + h, 1, 1 - h, 0, 0});
  expect_rates(optim::cosine_rate(3, 2, 1), {3, 2, 1, 1});
}

TEST(Schedule, ExponentialAndStepsMultiply) {
  expect_rates(optim::exponential_rate(8, 0.5), {8, 4, 2, 1, 0.5});
  expect_rates(optim::step_rate(1, 3, 0.1), {1, 1, 1, 0.1, 0.1, 0.1, 0.01});
}

// Up in 0.3 * 10 - 1 = 2 steps from 1 / 25, down in 7 to 1 / 250,000.
TEST(Schedule, OneCycleRisesAndFalls) {
  const optim::Schedule schedule = optim::one_cycle_rate(1, 10);
  expect_rates(schedule, {0.04, 0.52, 1});
  const double least = 0.04 / 1e4;
  EXPECT_NEAR(schedule(9), least, 1e-15);
  EXPECT_NEAR(schedule(5.5), (1 + least) / 2, 1e-12);
  EXPECT_NEAR(optim::one_cycle_rate(1, 10, {.div_factor = 2})(0), 0.5, 1e-12);
}

TEST(Schedule, SequencesBeginAnew) {
  const optim::Schedule warm =
      optim::sequence(optim::linear_rate(0, 1, 10), 2, optim::step_rate(4, 2, 0.5));
  expect_rates(warm, {0, 0.1, 4, 4, 2, 2, 1});
  expect_rates(optim::sequence(warm, 3, optim::constant_rate(7)), {0, 0.1, 4, 7, 7});
  expect_rates(optim::sequence(warm, 1, optim::constant_rate(7)), {0, 7, 7});
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  for (const std::string& message :
       {error_of([] { optim::constant_rate(-1); }), error_of([] { optim::cosine_rate(1, 0); }),
        error_of([] { optim::exponential_rate(1, 0); }), error_of([] { optim::step_rate(1, -3); }),
        error_of([] { optim::one_cycle_rate(1, 3); }),
        error_of([] { optim::sequence({}, 1, optim::constant_rate(1)); })}) {
    EXPECT_NE(message.find("training_test.cpp"), std::string::npos) << message;
  }
}

TEST(Schedule, ChangesTheRateInACapturedStepWithoutCompiling) {
  const optim::Schedule schedule = optim::linear_rate(1, 0, 4);
  optim::Adam adam({Tensor::zeros({2}).realize()});
  auto step = capture([&] {
    adam.set_learning_rate(schedule(adam.steps));
    adam.step({Tensor::ones({2})});
    return adam.learning_rate + 0;
  });
  EXPECT_EQ(step().item<float>(), 1);
  const auto compiled = run_statistics().kernels_compiled;
  std::vector<float> rates;
  for (int i = 0; i < 4; i++) rates.push_back(step().item<float>());
  EXPECT_EQ(rates, (std::vector<float>{0.75, 0.5, 0.25, 0}));
  EXPECT_EQ(run_statistics().kernels_compiled, compiled);
  // Equal gradients move the parameters by the rate, whatever their size.
  expect_near(adam.parameters[0], {-2.5, -2.5}, 1e-5);
}

// The gradients (3, 4) and (12) have the norm 13 together.
TEST(ClipGradNorm, ScalesAllGradientsByOneFactor) {
  const std::vector<Tensor> gradients{Tensor::from_data({3.f, 4.f}, {2}),
                                      Tensor::from_data({12.f}, {1})};
  const optim::ClippedGradients clipped = optim::clip_grad_norm(gradients, 6.5);
  EXPECT_NEAR(clipped.norm.item<double>(), 13, 1e-5);
  expect_near(clipped.gradients[0], {1.5, 2}, 1e-6);
  expect_near(clipped.gradients[1], {6}, 1e-6);
  const optim::ClippedGradients small = optim::clip_grad_norm(gradients, 20);
  EXPECT_EQ(small.gradients[0].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_NEAR(optim::clip_grad_norm(gradients, 1, 1).norm.item<double>(), 19, 1e-5);
  const double infinite = std::numeric_limits<double>::infinity();
  const optim::ClippedGradients largest = optim::clip_grad_norm(gradients, 6, infinite);
  EXPECT_EQ(largest.norm.item<double>(), 12);
  expect_near(largest.gradients[0], {1.5, 2}, 1e-6);
}

TEST(ClipGradNorm, KeepsHalfTypesAndSumsThemWide) {
  const Tensor half = Tensor::full({70'000}, 1, {.dtype = DType::Float16});
  const optim::ClippedGradients clipped = optim::clip_grad_norm({half}, 1);
  EXPECT_EQ(clipped.gradients[0].dtype(), DType::Float16);
  EXPECT_NEAR(clipped.norm.item<double>(), std::sqrt(70'000), 1e-2);
}

TEST(ClipGradValue, LimitsEachElement) {
  const std::vector<Tensor> clipped =
      optim::clip_grad_value({Tensor::from_data({-3.f, 0.5f, 2.f}, {3})}, 1);
  expect_near(clipped[0], {-1, 0.5, 1}, 1e-6);
}

TEST(ClipGrad, RefusesBoundsThatAreNotPositive) {
  const std::vector<Tensor> one{Tensor::ones({1})};
  for (const std::string& message : {error_of([&] { optim::clip_grad_norm(one, 0); }),
                                     error_of([&] { optim::clip_grad_norm(one, 1, -2); }),
                                     error_of([&] { optim::clip_grad_norm({}, 1); }),
                                     error_of([&] { optim::clip_grad_value(one, -1); })}) {
    EXPECT_NE(message.find("training_test.cpp"), std::string::npos) << message;
  }
}

struct Net {
  nn::Linear hidden{4, 8}, output{8, 1};
  Tensor operator()(const Tensor& x) const { return output(tanh(hidden(x))); }
};

// Eight captured steps over a batch in so many parts; the parameters afterwards.
std::vector<double> trained(std::int64_t parts, const Tensor& x, const Tensor& y) {
  manual_seed(41);
  const Net net;
  optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.1, .momentum = 0.9});
  auto step = capture([&] {
    std::vector<Tensor> sum;
    const std::int64_t size = x.size(0) / parts;
    for (std::int64_t i = 0; i < parts; i++) {
      const Tensor loss = mse_loss(net(x.narrow(0, i * size, size)), y.narrow(0, i * size, size));
      optim::accumulate(sum, (loss / parts).gradient(sgd.parameters));
    }
    sgd.step(sum);
  });
  for (int i = 0; i < 8; i++) step();
  std::vector<double> values;
  for (const Tensor& p : sgd.parameters) {
    for (double v : p.to_vector<double>()) values.push_back(v);
  }
  return values;
}

TEST(Accumulate, InACapturedStepEqualsOneLargeBatch) {
  manual_seed(42);
  const Tensor x = Tensor::randn({16, 4}).realize();
  const Tensor y = x.sum(1, true).realize();
  const std::vector<double> expected = trained(1, x, y), found = trained(4, x, y);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-5);
  EXPECT_NE(error_of([] {
              std::vector<Tensor> sum{Tensor::ones({1})};
              optim::accumulate(sum, {});
            }).find("0 gradients for 1"),
            std::string::npos);
}

// Five steps of an optimizer with the outputs of a GRU; the losses.
std::vector<double> trained_gru(bool as_scan) {
  manual_seed(43);
  const nn::GRU gru(3, 4);
  const Tensor x = Tensor::randn({6, 2, 3}).realize(), y = Tensor::randn({6, 2, 4}).realize();
  optim::Adam adam(nn::parameters(gru), {.learning_rate = 0.05});
  const auto outputs = [&] {
    if (!as_scan) return gru(x).output;
    return scan(
               [&](const Tensor& h, const Tensor& row) {
                 const Tensor next = gru_cell(row, h, gru.weights[0]);
                 return std::pair(next, next);
               },
               Tensor::zeros({2, 4}), x)
        .second;
  };
  std::vector<double> losses;
  for (int i = 0; i < 5; i++) {
    const Tensor loss = mse_loss(outputs(), y);
    adam.step(loss.gradient(adam.parameters));
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST(Recurrent, AScanOverItsCellTrainsAsTheLayerDoes) {
  const std::vector<double> expected = trained_gru(false), found = trained_gru(true);
  for (std::size_t i = 0; i < expected.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-5);
  EXPECT_LT(found.back(), found.front());
}

}  // namespace
}  // namespace croze
