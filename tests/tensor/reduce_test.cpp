// Reductions against numbers and the reference.
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(Reduce, SumsOverAxes) {
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  expect_numbers(x.sum(), {21});
  expect_numbers(x.sum(0), {5, 7, 9});
  expect_numbers(x.sum(-1), {6, 15});
  EXPECT_EQ(x.sum(1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(x.sum({0, 1}).shape(), (Shape{}));
  EXPECT_EQ(x.sum().shape(), (Shape{}));
  expect_numbers(x.prod(), {720});
  expect_numbers(x.mean(0), {2.5, 3.5, 4.5});
  expect_reference(random_tensor({3, 5, 7}, -1, 1).sum({0, 2}), 1e-5);
}

TEST(Reduce, ChoosesTheDtypeOfASum) {
  EXPECT_EQ(Tensor::ones({2}, {.dtype = DType::Int8}).sum().dtype(), DType::Int64);
  EXPECT_EQ(Tensor::ones({2}, {.dtype = DType::Bool}).sum().dtype(), DType::Int64);
  EXPECT_EQ(Tensor::ones({2}, {.dtype = DType::Float16}).sum().dtype(), DType::Float16);
  EXPECT_EQ(Tensor::ones({2}, {.dtype = DType::Int32}).mean().dtype(), DType::Float32);
  EXPECT_EQ(Tensor::ones({2}, {.dtype = DType::Int8}).max().dtype(), DType::Int8);
}

TEST(Reduce, HalvesAccumulateInFloat32) {
  // In half precision the sum would stop at 2048.
  const Tensor x = Tensor::ones({5000}, {.dtype = DType::Float16}).realize();
  expect_numbers(x.sum(), {5000});
  expect_numbers(x.mean(), {1});
  expect_numbers((Tensor::ones({70000}, {.dtype = DType::Float16}).realize() * 2).mean(), {2});
}

TEST(Reduce, FindsExtremes) {
  const Tensor x = Tensor::from_data({3.f, 1.f, 2.f, -5.f, 7.f, 7.f}, {2, 3});
  expect_numbers(x.max(), {7});
  expect_numbers(x.min(1), {1, -5});
  expect_numbers(x.max({0, 1}, true), {7});
  expect_numbers(x.argmax(), {4});
  expect_numbers(x.argmax(1), {0, 1});
  expect_numbers(x.argmin(0), {1, 0, 0});
  EXPECT_EQ(x.argmax(1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(x.argmax().dtype(), DType::Int64);
  EXPECT_TRUE(std::isnan(Tensor::from_data({1.f, NAN, 2.f}, {3}).max().item<float>()));
  EXPECT_TRUE(std::isnan(Tensor::from_data({1.f, NAN, 2.f}, {3}).min().item<float>()));
  expect_numbers(Tensor::from_data({1.f, NAN, 2.f}, {3}).argmax(), {1});
  expect_numbers(Tensor::from_data({-128, 5}, {2}).cast(DType::Int8).min(), {-128});
}

TEST(Reduce, AsksWhetherAnyOrAllHold) {
  const Tensor x = Tensor::from_data({0, 1, 1, 1}, {2, 2});
  expect_numbers(x.any(1), {1, 1});
  expect_numbers(x.all(1), {0, 1});
  expect_numbers((x > 5).any(), {0});
  expect_numbers(Tensor::zeros({0}).any(), {0});
  expect_numbers(Tensor::zeros({0}).all(), {1});
}

TEST(Reduce, MeasuresDeviation) {
  const Tensor x = Tensor::from_data({1., 2., 4., 7., 3., 3.}, {2, 3});
  expect_numbers(x.var(1), {7.0 / 3, 16.0 / 3}, 1e-12);
  expect_numbers(x.var(1, 0), {14.0 / 9, 32.0 / 9}, 1e-12);
  expect_numbers(x.std_dev(1), {std::sqrt(7.0 / 3), std::sqrt(16.0 / 3)}, 1e-12);
  expect_numbers(Tensor::ones({1}).var(), {NAN});
  // A large offset costs no digits.
  expect_numbers((Tensor::from_data({1., 2., 4.}, {3}) + 1e6).var(), {7.0 / 3}, 1e-9);
}

TEST(Reduce, TakesNorms) {
  const Tensor x = Tensor::from_data({3., -4., 0.}, {3});
  expect_numbers(x.norm(), {5});
  expect_numbers(x.norm(1), {7});
  expect_numbers(x.norm(INFINITY), {4});
  expect_numbers(x.norm(-INFINITY), {0});
  expect_numbers(x.norm(0), {2});
  expect_numbers(x.norm(3), {std::cbrt(91.0)}, 1e-9);
}

TEST(Reduce, SoftmaxIsSafe) {
  const Tensor x = Tensor::from_data({1000., 1001., 999.}, {3});
  const double e = std::exp(1), z = 1 + e + 1 / e;
  expect_numbers(x.softmax(), {1 / z, e / z, 1 / e / z}, 1e-9);
  expect_numbers(x.log_softmax(), {-std::log(z), 1 - std::log(z), -1 - std::log(z)}, 1e-9);
  expect_numbers(x.logsumexp(), {1000 + std::log(z)}, 1e-9);
  expect_numbers(Tensor::full({2}, -INFINITY).logsumexp(), {-INFINITY});
  expect_numbers(Tensor::from_data({0.f, -INFINITY}, {2}).softmax(), {1, 0});
  const Tensor y = random_tensor({3, 4, 5}, -3, 3);
  expect_reference(y.softmax(1), 1e-5);
  expect_reference(y.log_softmax(0), 1e-5);
  expect_reference(y.logsumexp({0, 2}, true), 1e-5);
  EXPECT_EQ(y.cast(DType::Float16).softmax().dtype(), DType::Float16);
}

// As many rows as there are lanes, some at once, or one after the other.
TEST(Reduce, RowsOfAFewVectorsComeToTheSameHoweverManyThereAre) {
  for (const Shape& shape : {Shape{64, 128}, Shape{48, 100}, Shape{7, 64}, Shape{32, 48}}) {
    const Tensor x = random_tensor(shape, -3, 3);
    for (const Tensor& y : {x, where(x > 2.5, INFINITY, x), where(x < 2.9, -INFINITY, x)}) {
      expect_reference(y.logsumexp({1}), 1e-5);
      expect_reference(y.softmax(1), 1e-5);
      expect_reference(y.log_softmax(1), 1e-5);
      expect_reference(log(sum(abs(y), 1)) + max(y, 1), 1e-5);
    }
    expect_reference(var(x, 1), 1e-5);
  }
}

TEST(Reduce, SumsUp) {
  expect_numbers(Tensor::arange(1, 5).cumsum(0), {1, 3, 6, 10});
  expect_reference(random_tensor({3, 5}, -1, 1).cumsum(0), 1e-5);
  const std::vector<std::int64_t> sums = Tensor::arange(700).cumsum(0).to_vector<std::int64_t>();
  for (std::int64_t i : {0, 255, 256, 257, 511, 512, 699})
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], i * (i + 1) / 2);
}

// Each wants the one before: as one kernel they would be more loops than a kernel may have.
TEST(Reduce, ManyInARow) {
  const Tensor x = Tensor::ones({64}).realize();
  Tensor y = x;
  for (int i = 0; i < 70; i++) y = y * (1.0 / (i + 1)) / y.sum();
  EXPECT_NEAR(y.sum().item<float>(), 1.0 / 70, 1e-6);
}

TEST(Reduce, OverAxesOfSizeOne) {
  const Tensor x = Tensor::from_data({2.f, 3.f}, {2, 1});
  expect_numbers(x.sum(1), {2, 3});
  expect_numbers(x.max(1), {2, 3});
  expect_numbers(Tensor::scalar(4).sum(), {4});
  expect_numbers(Tensor::scalar(4).argmax(), {0});
}

}  // namespace
}  // namespace croze
