// Loss scaling: the rule of torch.amp.GradScaler, and what it is for.
#include <cmath>

#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

double scale_of(const optim::LossScale& scale) { return scale.scale.item<double>(); }

void adjust(optim::LossScale& scale, bool finite) { scale.adjust(Tensor::from_data({finite}, {})); }

TEST(LossScale, GrowsAfterFiniteStepsAndBacksOffAfterOthers) {
  optim::LossScale scale({.first = 8, .growth = 4, .backoff = 0.25, .interval = 3});
  std::vector<double> scales;
  for (const bool finite : {true, true, false, true, true, true, true, true, true}) {
    adjust(scale, finite);
    scales.push_back(scale_of(scale));
  }
  EXPECT_EQ(scales, (std::vector<double>{8, 8, 2, 2, 2, 8, 8, 8, 32}));
}

TEST(LossScale, DoesNotGrowBeyondTheNumbersThereAre) {
  optim::LossScale scale({.first = 3e38, .interval = 1});
  adjust(scale, true);
  EXPECT_EQ(scale_of(scale), static_cast<double>(3e38f));
}

TEST(LossScale, DividesTheGradientsByTheScale) {
  const optim::LossScale scale({.first = 1024});
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f}, {3}).realize();
  const auto g = scale.unscaled(scale(x.square().sum()).gradient({x}));
  expect_near(g.gradients[0], {2, 4, 6}, 0);
  EXPECT_TRUE(g.are_finite.item<bool>());
}

TEST(LossScale, FindsOneElementThatIsNotFinite) {
  const optim::LossScale scale;
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    const auto g = scale.unscaled({Tensor::ones({4}), Tensor::from_data({1.f, bad}, {2})});
    EXPECT_FALSE(g.are_finite.item<bool>()) << bad;
  }
}

// The gradient, 2^-30, is zero in Float16; times 2^16 it is not.
TEST(LossScale, SavesGradientsThatHalfTypesLose) {
  const Tensor x = Tensor::ones({2}, {.dtype = DType::Float16}).realize();
  const auto loss = [&] {
    return (x * std::ldexp(1.0, -15)).cast(DType::Float32).sum() * std::ldexp(1.0, -15);
  };
  expect_near(loss().gradient({x})[0], {0, 0}, 0);
  const optim::LossScale scale;
  const auto g = scale.unscaled(scale(loss()).gradient({x}));
  EXPECT_EQ(g.gradients[0].dtype(), DType::Float32);
  expect_near(g.gradients[0], {std::ldexp(1.0, -30), std::ldexp(1.0, -30)}, 0);
}

// A scale that is far too large comes down by itself, and until then nothing is learned or broken.
TEST(LossScale, LeavesStepsOutUntilTheScaleFits) {
  nn::Linear layer(2, 1, {.tensor = {.dtype = DType::Float16}});
  layer.weight.assign(0).realize();
  layer.bias.assign(0).realize();
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2}, {.dtype = DType::Float16});
  optim::SGD sgd(nn::parameters(layer), {.learning_rate = 0.01, .momentum = 0.5});
  optim::LossScale scale({.first = std::ldexp(1.0, 24)});
  auto step = capture([&] {
    const Tensor loss = (layer(x) - 3).square().mean();
    const auto g = scale.unscaled(scale(loss).gradient(sgd.parameters));
    sgd.step(g.gradients, g.are_finite);
    scale.adjust(g.are_finite);
    return std::vector<Tensor>{loss, g.are_finite};
  });
  const float first = step()[0].item<float>();
  int left_out = 1;
  while (left_out < 30) {
    const std::vector<Tensor> results = step();
    EXPECT_EQ(results[0].item<float>(), first);
    if (results[1].item<bool>()) break;
    left_out++;
  }
  EXPECT_GT(left_out, 2);
  EXPECT_EQ(scale_of(scale), std::ldexp(1.0, 24 - left_out));
  float last = 0;
  for (int i = 0; i < 20; i++) last = step()[0].item<float>();
  EXPECT_LT(last, first / 4);
}

TEST(LossScale, IsPartOfTheStateOfATraining) {
  optim::LossScale a({.first = 8, .interval = 2}), b;
  adjust(a, true);
  nn::load_state_dict(b, nn::state_dict(a));
  EXPECT_EQ(scale_of(b), 8);
  EXPECT_EQ(b.finite_steps.item<double>(), 1);
}

TEST(LossScale, RefusesNumbersThatCannotBe) {
  EXPECT_NE(error_of([] { optim::LossScale scale({.first = 0}); }).find("first 0"),
            std::string::npos);
  EXPECT_NE(error_of([] { optim::LossScale scale({.backoff = 2}); }), "");
  EXPECT_NE(error_of([] { optim::LossScale().unscaled({}); }).find("no gradients"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
