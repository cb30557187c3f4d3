// Rearranging elements, against numbers and the reference.
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

Tensor counted(const Shape& shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.numel(); i++) values.push_back(static_cast<float>(i));
  return Tensor::from_data(values, shape);
}

TEST(Movement, Reshapes) {
  const Tensor x = counted({2, 6});
  EXPECT_EQ(x.reshape({3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(x.view({-1}).shape(), (Shape{12}));
  EXPECT_EQ(x.flatten().shape(), (Shape{12}));
  EXPECT_EQ(counted({2, 3, 4}).flatten(1).shape(), (Shape{2, 12}));
  EXPECT_EQ(Tensor::scalar(1).flatten().shape(), (Shape{1}));
  EXPECT_EQ(x.unsqueeze(1).shape(), (Shape{2, 1, 6}));
  EXPECT_EQ(x.unsqueeze(-1).shape(), (Shape{2, 6, 1}));
  EXPECT_EQ(counted({1, 3, 1}).squeeze().shape(), (Shape{3}));
  EXPECT_EQ(counted({1, 3, 1}).squeeze(0).shape(), (Shape{3, 1}));
  EXPECT_EQ(counted({1, 3, 1}).squeeze(1).shape(), (Shape{1, 3, 1}));
  expect_reference(x.reshape({3, 4}).transpose());
}

TEST(Movement, Permutes) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(x.permute({2, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(x.transpose(0, 2).shape(), (Shape{4, 3, 2}));
  expect_numbers(counted({2, 3}).transpose(), {0, 3, 1, 4, 2, 5});
  expect_reference(x.permute({2, 0, 1}) * 2);
  expect_reference(x.transpose(0, -1));
}

TEST(Movement, Expands) {
  expect_numbers(counted({2, 1}).expand({2, 3}), {0, 0, 0, 1, 1, 1});
  EXPECT_EQ(counted({2, 1}).expand({4, -1, 3}).shape(), (Shape{4, 2, 3}));
}

TEST(Movement, FlipsAndRepeats) {
  expect_numbers(counted({2, 3}).flip(1), {2, 1, 0, 5, 4, 3});
  expect_numbers(counted({2, 2}).flip({0, 1}), {3, 2, 1, 0});
  expect_numbers(counted({2}).repeat({3}), {0, 1, 0, 1, 0, 1});
  expect_numbers(counted({2, 1}).repeat({1, 2}), {0, 0, 1, 1});
  EXPECT_EQ(counted({2}).repeat({2, 2}).shape(), (Shape{2, 4}));
}

TEST(Movement, CutsParts) {
  const Tensor x = counted({10});
  expect_numbers(x.narrow(0, 3, 2), {3, 4});
  expect_numbers(x.narrow(0, -2, 2), {8, 9});
  expect_numbers(x.slice(0, {.begin = 2, .end = 8, .step = 3}), {2, 5});
  expect_numbers(x.slice(0, {.begin = -3}), {7, 8, 9});
  expect_numbers(x.slice(0, {.end = -8}), {0, 1});
  expect_numbers(x.slice(0, {.step = -4}), {9, 5, 1});
  expect_numbers(x.slice(0, {.begin = 5, .end = 1, .step = -2}), {5, 3});
  expect_numbers(x.slice(0, {.begin = 8, .end = 100}), {8, 9});
  EXPECT_EQ(x.slice(0, {.begin = 5, .end = 2}).numel(), 0);
  EXPECT_EQ(x.slice(0, {.begin = 1, .end = 5, .step = -1}).numel(), 0);
  const std::pair<std::int64_t, std::int64_t> bounds[] = {{0, 1}, {1, 3}};
  expect_numbers(shrink(counted({2, 3}), bounds), {1, 2});
}

TEST(Movement, Pads) {
  expect_numbers(counted({3}).pad({1, 2}), {0, 0, 1, 2, 0, 0});
  expect_numbers(counted({3}).pad({1, 0}, 7.5), {7.5, 0, 1, 2});
  expect_numbers(counted({3}).pad({-1, 1}, 9), {1, 2, 9});
  // The last axis comes first.
  EXPECT_EQ(counted({2, 3}).pad({1, 1, 0, 2}).shape(), (Shape{4, 5}));
  expect_reference(counted({2, 3}).pad({1, 1, 0, 2}, -1));
  expect_numbers(Tensor::from_data({INFINITY}, {1}).pad({1, 1}, 1), {1, INFINITY, 1});
}

TEST(Movement, JoinsAndSplits) {
  const Tensor a = counted({2, 2}), b = counted({2, 1}) + 10;
  expect_numbers(cat({a, b}, 1), {0, 1, 10, 2, 3, 11});
  expect_numbers(cat({a, a, a}).sum(0), {6, 12});
  expect_reference(cat({a, b, a * 2}, -1));
  expect_numbers(stack({a[0], a[1]}, 1), {0, 2, 1, 3});
  EXPECT_EQ(cat({a, Tensor::ones({1, 2}, {.dtype = DType::Float64})}).dtype(), DType::Float64);
  expect_numbers(cat({Tensor::from_data({-0.f, NAN}, {2}), Tensor::from_data({INFINITY}, {1})}),
                 {-0.0, NAN, INFINITY});
  expect_numbers(cat({Tensor::from_data({true}, {1}), Tensor::from_data({false, true}, {2})}),
                 {1, 0, 1});

  const auto parts = counted({5}).split(2);
  ASSERT_EQ(parts.size(), 3u);
  expect_numbers(parts[2], {4});
  expect_numbers(counted({5}).split({1, 4})[1], {1, 2, 3, 4});
  EXPECT_EQ(counted({2, 7}).chunk(3, 1)[2].shape(), (Shape{2, 1}));
}

TEST(Movement, CutsWindows) {
  expect_numbers(counted({5}).unfold(0, 3, 1), {0, 1, 2, 1, 2, 3, 2, 3, 4});
  expect_numbers(counted({6}).unfold(0, 2, 3), {0, 1, 3, 4});
  expect_numbers(unfold(counted({6}), 0, 3, 1, 2), {0, 2, 4, 1, 3, 5});
  EXPECT_EQ(counted({4, 6}).unfold(0, 2, 2).shape(), (Shape{2, 6, 2}));
}

TEST(Movement, KeepsTriangles) {
  const Tensor x = Tensor::ones({3, 4});
  expect_numbers(x.triu(), {1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1});
  expect_numbers(x.tril(), {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0});
  expect_numbers(x.triu(1), {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1});
  expect_numbers(x.tril(-1), {0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0});
  expect_reference(counted({2, 3, 3}).triu(-1));
}

TEST(Movement, ChainsOfViewsAgreeWithTheReference) {
  const Tensor x = counted({4, 6});
  expect_reference(
      x.reshape({2, 2, 6}).permute({1, 2, 0}).flip(1).slice(1, {.step = 2}).pad({1, 1}));
  expect_reference(x.transpose().reshape({4, 6}).narrow(0, 1, 2).repeat({2, 1}));
  expect_reference(x.pad({1, 1, 1, 1}).unfold(0, 3, 1).unfold(1, 3, 2).sum({2, 3}));
}

}  // namespace
}  // namespace croze
