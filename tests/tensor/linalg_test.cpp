// Products, convolutions and pooling against the reference and plain loops.
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(Linalg, MultipliesMatrices) {
  const Tensor a = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const Tensor b = Tensor::from_data({5.f, 6.f, 7.f, 8.f}, {2, 2});
  expect_numbers(matmul(a, b), {19, 22, 43, 50});
  expect_numbers(matmul(a, b[0]), {17, 39});
  expect_numbers(matmul(a[0], b), {19, 22});
  expect_numbers(a[0].dot(b[1]), {23});
  EXPECT_EQ(a[0].dot(b[1]).ndim(), 0);
}

TEST(Linalg, BroadcastsBatches) {
  const Tensor a = random_tensor({2, 1, 3, 4}, -1, 1), b = random_tensor({5, 4, 6}, -1, 1, {}, 2);
  EXPECT_EQ(matmul(a, b).shape(), (Shape{2, 5, 3, 6}));
  expect_reference(matmul(a, b), 1e-5);
  EXPECT_EQ(matmul(a, random_tensor({4}, -1, 1)).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(matmul(random_tensor({4}, -1, 1), b).shape(), (Shape{5, 6}));
}

TEST(Linalg, KeepsIntegersAndAccumulatesHalvesWide) {
  const Tensor i = Tensor::full({2, 2}, 100, {.dtype = DType::Int32});
  EXPECT_EQ(matmul(i, i).dtype(), DType::Int32);
  expect_numbers(matmul(i, i), {20000, 20000, 20000, 20000});
  const Tensor h = Tensor::ones({1, 4096}, {.dtype = DType::Float16}).realize();
  EXPECT_EQ(matmul(h, h.transpose()).dtype(), DType::Float16);
  expect_numbers(matmul(h, h.transpose()), {4096});
}

TEST(Linalg, AppliesLinearMaps) {
  const Tensor x = random_tensor({3, 5}, -1, 1), w = random_tensor({2, 5}, -1, 1, {}, 2);
  const Tensor b = random_tensor({2}, -1, 1, {}, 3);
  expect_reference(linear(x, w, b), 1e-5);
  EXPECT_EQ(linear(x[0], w).shape(), (Shape{2}));
}

TEST(Linalg, GradientsAgreeWithTheReference) {
  const Tensor x = random_tensor({2, 4, 6, 5}, -1, 1),
               w = random_tensor({6, 2, 3, 3}, -1, 1, {}, 2);
  const Tensor y = conv2d(x, w, {}, {.stride = 2, .padding = 1, .groups = 2});
  for (const Tensor& g : (y * y).sum().gradient({x, w})) expect_reference(g, 1e-4);
  expect_reference(max_pool2d(x, 2).sum().gradient({x})[0], 1e-5);
  expect_reference(avg_pool2d(x, 3, {.stride = 2, .padding = 1}).square().sum().gradient({x})[0],
                   1e-5);
  const Tensor a = random_tensor({3, 4}, -1, 1), b = random_tensor({4, 5}, -1, 1, {}, 2);
  for (const Tensor& g : matmul(a, b).square().sum().gradient({a, b})) expect_reference(g, 1e-5);
}

}  // namespace
}  // namespace croze
