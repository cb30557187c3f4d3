// Layers of convolutions: numbers worked out by hand, and transposes as transposes.
#include "croze/nn/convolution.h"

#include <cmath>

#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

Tensor numbers(const std::vector<float>& values, const Shape& shape) {
  return Tensor::from_data(values, shape);
}

TEST(Conv1d, SlidesAlongTheAxis) {
  nn::Conv1d layer(1, 1, 3, {.stride = 2, .padding = 1});
  EXPECT_EQ(layer.weight.shape(), (Shape{1, 1, 3}));
  layer.weight.assign(numbers({1, 10, 100}, {1, 1, 3}));
  layer.bias.assign(numbers({0.5}, {1}));
  // Windows (0 1 2), (2 3 4) and, over the padding, (4 5 0).
  expect_near(layer(numbers({1, 2, 3, 4, 5}, {1, 1, 5})), {210.5, 432.5, 54.5}, 1e-6);
  expect_near(layer(numbers({1, 2, 3, 4, 5}, {1, 5})), {210.5, 432.5, 54.5}, 1e-6);
}

TEST(Conv1d, KeepsTheSizeWhenAsked) {
  nn::Conv1d layer(1, 1, 2, {.bias = false, .same = true});
  layer.weight.assign(numbers({1, 10}, {1, 1, 2}));
  expect_near(layer(numbers({1, 2, 3}, {1, 1, 3})), {21, 32, 3}, 1e-6);
}

TEST(Conv3d, SumsOverBlocks) {
  nn::Conv3d layer(1, 1, 2, {.bias = false});
  layer.weight.assign(Tensor::ones({1, 1, 2, 2, 2}));
  const Tensor x = Tensor::arange(27).reshape({1, 1, 3, 3, 3}).cast(DType::Float32);
  // Eight numbers of mean corner + (1 + 3 + 9) / 2.
  std::vector<double> expected;
  for (int corner : {0, 1, 3, 4, 9, 10, 12, 13}) expected.push_back(8 * (corner + 6.5));
  expect_near(layer(x), expected, 1e-6);
}

TEST(ConvTranspose1d, LaysKernelsSideBySide) {
  nn::ConvTranspose1d layer(1, 1, 3, {.stride = 2});
  EXPECT_EQ(layer.weight.shape(), (Shape{1, 1, 3}));
  layer.weight.assign(numbers({1, 10, 100}, {1, 1, 3}));
  layer.bias.assign(numbers({0.5}, {1}));
  expect_near(layer(numbers({1, 2}, {1, 1, 2})), {1.5, 10.5, 102.5, 20.5, 200.5}, 1e-6);
}

// <conv(x), y> = <x, transposed(y)> when both have one weight.
template <typename Layer, typename Transposed>
void expect_transposes(int axes, const PerAxis& kernel, const PerAxis& stride,
                       const PerAxis& output_padding) {
  const Layer layer(4, 6, kernel, {.stride = stride, .padding = 1, .groups = 2, .bias = false});
  Transposed transposed(6, 4, kernel,
                        {.stride = stride,
                         .padding = 1,
                         .output_padding = output_padding,
                         .groups = 2,
                         .bias = false});
  ASSERT_EQ(transposed.weight.shape(), layer.weight.shape());
  transposed.weight.assign(layer.weight);
  Shape shape{2, 4};
  for (int i = 0; i < axes; i++) shape.push_back(6);
  const Tensor x = Tensor::randn(shape).realize();
  const Tensor y = Tensor::randn(layer(x).shape()).realize();
  ASSERT_EQ(transposed(y).shape(), shape);
  const Tensor left = (layer(x) * y).sum(), right = (x * transposed(y)).sum();
  expect_near(left, right.to_vector<double>(), 1e-4);
}

TEST(ConvTranspose, IsTheTransposeOfTheConvolution) {
  manual_seed(21);
  expect_transposes<nn::Conv1d, nn::ConvTranspose1d>(1, 3, 2, 1);
  expect_transposes<nn::Conv2d, nn::ConvTranspose2d>(2, {3, 2}, {2, 1}, {1, 0});
  expect_transposes<nn::Conv3d, nn::ConvTranspose3d>(3, 3, 1, 0);
}

// PyTorch takes the second axis of the weight for the inputs, transposed or not.
TEST(ConvTranspose, StartsAsInPyTorch) {
  manual_seed(22);
  const nn::ConvTranspose2d layer(64, 16, 3);
  const double bound = 1 / std::sqrt(16 * 9);
  const double most = layer.weight.abs().max().item<double>();
  EXPECT_LE(most, bound);
  EXPECT_GT(most, 0.99 * bound);
  EXPECT_LE(layer.bias.abs().max().item<double>(), bound);
}

TEST(ConvLayers, NameThemselvesInErrors) {
  EXPECT_NE(error_of([] { nn::Conv1d(4, 6, 3, {.groups = 4}); }).find("Conv1d: 4 groups"),
            std::string::npos);
  EXPECT_NE(error_of([] { nn::ConvTranspose3d(0, 6, 3); }).find("ConvTranspose3d"),
            std::string::npos);
  const std::string message = error_of([] { nn::Conv3d(1, 1, {3, 3}); });
  EXPECT_NE(message.find("Conv3d"), std::string::npos) << message;
  EXPECT_NE(message.find("convolution_test.cpp"), std::string::npos) << message;
  const nn::Conv1d layer(2, 2, 1);
  EXPECT_NE(error_of([&] {
              layer(Tensor::ones({1, 2, 3, 4}));
            }).find("convolution_test.cpp"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
