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

struct Sizes {
  std::int64_t n, c, h, w, out, kh, kw;
};

// The definition of a convolution, in loops.
std::vector<double> convolved(const std::vector<double>& x, const std::vector<double>& weight,
                              Sizes s, const Conv2dOptions& o) {
  const std::int64_t per_group = s.c / o.groups, out_per_group = s.out / o.groups;
  const std::int64_t oh = (s.h + 2 * o.padding.h - o.dilation.h * (s.kh - 1) - 1) / o.stride.h + 1;
  const std::int64_t ow = (s.w + 2 * o.padding.w - o.dilation.w * (s.kw - 1) - 1) / o.stride.w + 1;
  std::vector<double> result;
  for (std::int64_t i = 0; i < s.n * s.out * oh * ow; i++) {
    const std::int64_t px = i % ow, py = i / ow % oh, co = i / ow / oh % s.out,
                       n = i / ow / oh / s.out;
    double sum = 0;
    for (std::int64_t k = 0; k < per_group * s.kh * s.kw; k++) {
      const std::int64_t kx = k % s.kw, ky = k / s.kw % s.kh, ci = k / s.kw / s.kh;
      const std::int64_t y = py * o.stride.h + ky * o.dilation.h - o.padding.h;
      const std::int64_t xx = px * o.stride.w + kx * o.dilation.w - o.padding.w;
      if (y < 0 || y >= s.h || xx < 0 || xx >= s.w) continue;
      const std::int64_t channel = co / out_per_group * per_group + ci;
      sum += x[static_cast<std::size_t>(((n * s.c + channel) * s.h + y) * s.w + xx)] *
             weight[static_cast<std::size_t>(((co * per_group + ci) * s.kh + ky) * s.kw + kx)];
    }
    result.push_back(sum);
  }
  return result;
}

TEST(Linalg, ConvolvesAsTheDefinitionSays) {
  const std::pair<Sizes, Conv2dOptions> cases[] = {
      {{2, 3, 7, 6, 4, 3, 3}, {}},
      {{1, 2, 5, 5, 3, 3, 3}, {.padding = 1}},
      {{2, 4, 9, 8, 6, 3, 2}, {.stride = Pair(2, 3), .padding = Pair(1, 2), .groups = 2}},
      {{1, 2, 9, 9, 2, 3, 3}, {.dilation = Pair(2, 3), .groups = 2}},
      {{1, 3, 4, 4, 2, 1, 1}, {.stride = 2}},
  };
  for (const auto& [s, options] : cases) {
    const Tensor x = random_tensor({s.n, s.c, s.h, s.w}, -1, 1);
    const Tensor w = random_tensor({s.out, s.c / options.groups, s.kh, s.kw}, -1, 1, {}, 2);
    expect_numbers(conv2d(x, w, {}, options),
                   convolved(x.to_vector<double>(), w.to_vector<double>(), s, options), 1e-5);
  }
}

TEST(Linalg, AddsTheBias) {
  const Tensor x = Tensor::ones({1, 1, 2, 2}), w = Tensor::ones({2, 1, 1, 1});
  expect_numbers(conv2d(x, w, Tensor::from_data({10.f, 20.f}, {2})),
                 {11, 11, 11, 11, 21, 21, 21, 21});
}

TEST(Linalg, Pools) {
  const Tensor x = Tensor::arange(16).reshape({1, 1, 4, 4}).cast(DType::Float32).realize();
  expect_numbers(max_pool2d(x, 2), {5, 7, 13, 15});
  expect_numbers(avg_pool2d(x, 2), {2.5, 4.5, 10.5, 12.5});
  expect_numbers(max_pool2d(x, 3, {.stride = Pair(1)}), {10, 11, 14, 15});
  expect_numbers(max_pool2d(-x - 1, 3, {.stride = Pair(2), .padding = 1}), {-1, -2, -5, -6});
  expect_numbers(avg_pool2d(x, 2, {.stride = Pair(2), .padding = 1, .count_include_pad = false}),
                 {0, 1.5, 3, 6, 7.5, 9, 12, 13.5, 15});
  expect_numbers(avg_pool2d(x, 2, {.stride = Pair(2), .padding = 1}),
                 {0, 0.75, 0.75, 3, 7.5, 4.5, 3, 6.75, 3.75});
  EXPECT_EQ(max_pool2d(x.cast(DType::Int32), 2).dtype(), DType::Int32);
}

TEST(Linalg, GradientsAgreeWithTheReference) {
  const Tensor x = random_tensor({2, 4, 6, 5}, -1, 1),
               w = random_tensor({6, 2, 3, 3}, -1, 1, {}, 2);
  const Tensor y = conv2d(x, w, {}, {.stride = 2, .padding = 1, .groups = 2});
  for (const Tensor& g : (y * y).sum().gradient({x, w})) expect_reference(g, 1e-4);
  expect_reference(max_pool2d(x, 2).sum().gradient({x})[0], 1e-5);
  expect_reference(
      avg_pool2d(x, 3, {.stride = Pair(2), .padding = 1}).square().sum().gradient({x})[0], 1e-5);
  const Tensor a = random_tensor({3, 4}, -1, 1), b = random_tensor({4, 5}, -1, 1, {}, 2);
  for (const Tensor& g : matmul(a, b).square().sum().gradient({a, b})) expect_reference(g, 1e-5);
}

}  // namespace
}  // namespace croze
