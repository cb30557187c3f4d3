// Layers that normalise: numbers worked out by hand.
#include "croze/nn/normalization.h"

#include <cmath>

#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

Tensor numbers(const std::vector<float>& values, const Shape& shape) {
  return Tensor::from_data(values, shape);
}

// Channels (1, 3) and (10, 30): means 2 and 20, deviations 1 and 10.
TEST(BatchNorm1d, NormalisesColumns) {
  nn::BatchNorm1d layer(2, {.epsilon = 0, .momentum = 0.5});
  const Tensor x = numbers({1, 10, 3, 30}, {2, 2});
  expect_near(layer(x, true), {-1, -1, 1, 1}, 1e-6);
  expect_near(layer.running_mean, {1, 10}, 1e-6);
  expect_near(layer.running_var, {0.5 + 1, 0.5 + 100}, 1e-6);  // divided by 2 - 1
  const nn::BatchNorm1d& fixed = layer;
  const double a = std::sqrt(1.5), b = std::sqrt(100.5);
  expect_near(fixed.evaluate(x), {0, 0, 2 / a, 20 / b}, 1e-6);
  expect_near(layer(x, false), {0, 0, 2 / a, 20 / b}, 1e-6);
}

TEST(BatchNorm, IsTheSameOverAnyNumberOfAxes) {
  manual_seed(31);
  const Tensor x = Tensor::randn({2, 3, 2, 3, 4}).realize();
  nn::BatchNorm1d one(3);
  nn::BatchNorm2d two(3);
  nn::BatchNorm3d three(3);
  const std::vector<double> expected = one(x.reshape({2, 3, 24}), true).to_vector<double>();
  expect_near(two(x.reshape({2, 3, 6, 4}), true), expected, 1e-5);
  expect_near(three(x, true), expected, 1e-5);
  expect_near(three.running_var, one.running_var.to_vector<double>(), 1e-6);
}

TEST(GroupNorm, NormalisesGroupsOfChannels) {
  nn::GroupNorm layer(2, 4, {.epsilon = 0});
  EXPECT_EQ(layer.weight.shape(), Shape{4});
  layer.weight.assign(numbers({1, 2, 1, 1}, {4}));
  layer.bias.assign(numbers({0, 0, 5, 5}, {4}));
  // Groups (1 1 3 3) and (10 10 50 50): means 2 and 30, deviations 1 and 20.
  const Tensor x = numbers({1, 1, 3, 3, 10, 10, 50, 50}, {1, 4, 2});
  expect_near(layer(x), {-1, -1, 2, 2, 4, 4, 6, 6}, 1e-6);
}

TEST(InstanceNorm, NormalisesEachChannelOfEachSample) {
  const nn::InstanceNorm1d layer(2, {.epsilon = 0});
  EXPECT_FALSE(layer.weight.defined());
  const Tensor x = numbers({1, 3, 10, 30}, {1, 2, 2});
  expect_near(layer(x), {-1, 1, -1, 1}, 1e-6);
  expect_near(layer(x.squeeze(0)), {-1, 1, -1, 1}, 1e-6);
  const nn::InstanceNorm3d deep(1, {.affine = true});
  EXPECT_EQ(deep(Tensor::ones({1, 1, 2, 2, 2})).shape(), (Shape{1, 1, 2, 2, 2}));
  EXPECT_EQ(nn::parameters(nn::InstanceNorm2d(3, {.affine = true})).size(), 2u);
}

TEST(RMSNorm, DividesByTheRootOfTheMeanSquare) {
  nn::RMSNorm layer({2}, {.epsilon = 3.5});
  layer.weight.assign(numbers({1, 2}, {2}));
  // sqrt(12.5 + 3.5) = 4.
  expect_near(layer(numbers({3, 4, -3, 4}, {2, 2})), {0.75, 2, -0.75, 2}, 1e-6);
  expect_near(nn::RMSNorm({2})(numbers({7, 7}, {2})), {1, 1}, 1e-6);
  EXPECT_FALSE(nn::RMSNorm({2}, {.affine = false}).weight.defined());
}

TEST(Norms, KeepHalfTypes) {
  const TensorOptions half{.dtype = DType::BFloat16};
  const Tensor x = Tensor::ones({2, 4, 3}, half);
  EXPECT_EQ(nn::GroupNorm(2, 4, {.tensor = half})(x).dtype(), DType::BFloat16);
  EXPECT_EQ(nn::RMSNorm({3}, {.tensor = half})(x).dtype(), DType::BFloat16);
  nn::BatchNorm1d batch(4, {.tensor = half});
  EXPECT_EQ(batch(x, true).dtype(), DType::BFloat16);
  EXPECT_EQ(batch.running_mean.dtype(), DType::Float32);
}

TEST(Norms, NameThemselvesInErrors) {
  EXPECT_NE(error_of([] { nn::GroupNorm(3, 4); }).find("GroupNorm: 3 groups"), std::string::npos);
  EXPECT_NE(error_of([] { nn::InstanceNorm2d(0); }).find("InstanceNorm2d"), std::string::npos);
  nn::BatchNorm3d layer(2);
  EXPECT_NE(error_of([&] {
              layer(Tensor::ones({1, 2, 3, 3}), true);
            }).find("BatchNorm3d: shape (1, 2, 3, 3) has 4 axes, not 5"),
            std::string::npos);
  const std::string message = error_of([&] { layer.evaluate(Tensor::ones({1, 3, 2, 2, 2})); });
  EXPECT_NE(message.find("3 channels, the layer 2"), std::string::npos) << message;
  EXPECT_NE(message.find("normalization_test.cpp"), std::string::npos) << message;
}

}  // namespace
}  // namespace croze
