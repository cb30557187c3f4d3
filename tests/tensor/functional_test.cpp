// Normalisation, attention, dropout and losses.
#include <cmath>
#include <limits>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(Functional, NormalisesLayers) {
  const Tensor x = random_tensor({4, 6}, -3, 5, {.dtype = DType::Float64});
  const Tensor y = layer_norm(x, 1, {}, {}, 0);
  expect_numbers(y.mean(1), {0, 0, 0, 0}, 1e-9);
  expect_numbers(y.var(1, 0), {1, 1, 1, 1}, 1e-9);
  const Tensor w = random_tensor({6}, 0, 1), b = random_tensor({6}, 0, 1, {}, 2);
  expect_reference(layer_norm(x, 1, w, b), 1e-6);
  EXPECT_EQ(layer_norm(random_tensor({2, 3, 4}, -1, 1, {.dtype = DType::BFloat16}), 2).dtype(),
            DType::BFloat16);
}

TEST(Functional, NormalisesChannels) {
  const Tensor x = random_tensor({3, 2, 4, 4}, -1, 3, {.dtype = DType::Float64});
  const auto [mean, var] = batch_statistics(x);
  EXPECT_EQ(mean.shape(), (Shape{2}));
  expect_numbers(var - x.var({0, 2, 3}, 0), {0, 0}, 1e-12);
  const Tensor y = batch_norm(x, mean, var, {}, {}, 0);
  expect_numbers(y.mean({0, 2, 3}), {0, 0}, 1e-9);
  expect_numbers(y.square().mean({0, 2, 3}), {1, 1}, 1e-9);
  const Tensor w = Tensor::from_data({2., 3.}, {2}), b = Tensor::from_data({-1., 1.}, {2});
  expect_numbers(batch_norm(x, mean, var, w, b, 0).mean({0, 2, 3}), {-1, 1}, 1e-9);
}

TEST(Functional, AttendsAsTheDefinitionSays) {
  const Tensor q = random_tensor({2, 3, 4, 8}, -1, 1),
               k = random_tensor({2, 3, 5, 8}, -1, 1, {}, 2);
  const Tensor v = random_tensor({2, 3, 5, 6}, -1, 1, {}, 3);
  const Tensor y = scaled_dot_product_attention(q, k, v);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4, 6}));
  const Tensor weights = (matmul(q, k.transpose()) / std::sqrt(8.0)).softmax();
  expect_numbers(y, matmul(weights, v).to_vector<double>(), 1e-5);
  expect_reference(y, 1e-5);
}

TEST(Functional, CausalAttentionDoesNotLookAhead) {
  const Tensor q = random_tensor({4, 8}, -1, 1), v = random_tensor({4, 3}, -1, 1, {}, 3);
  const Tensor y = scaled_dot_product_attention(q, q, v, {.causal = true});
  expect_numbers(y[0], v[0].to_vector<double>(), 1e-6);
  const Tensor cut = scaled_dot_product_attention(q.narrow(0, 0, 2), q.narrow(0, 0, 2),
                                                  v.narrow(0, 0, 2), {.causal = true});
  expect_numbers(y.narrow(0, 0, 2), cut.to_vector<double>(), 1e-5);
  const Tensor mask = Tensor::ones({4, 4}, {.dtype = DType::Bool}).tril();
  expect_numbers(scaled_dot_product_attention(q, q, v, {.mask = mask}), y.to_vector<double>(),
                 1e-6);
}

TEST(Functional, AMaskedProductLeavesOutWhateverStandsThere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = Tensor::from_data({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}),
               b = Tensor::from_data({5.0f, 6.0f, 7.0f, 8.0f}, {2, 2}),
               mask = Tensor::ones({2, 2}, {.dtype = DType::Bool}).tril();
  expect_numbers(masked_matmul(a, b, mask), {5, 6, 43, 50}, 0);
  const Tensor spoiled = where((Tensor::arange(2) == 1).unsqueeze(1), nan, b);
  expect_numbers(masked_matmul(a, spoiled, mask)[0], {5, 6}, 0);
  EXPECT_THROW(masked_matmul(a, b.narrow(0, 0, 1), mask), Error);
}

TEST(Functional, CausalAttentionIsNotSpoiledByWhatIsAhead) {
  const Tensor q = random_tensor({3, 8}, -1, 1), k = random_tensor({4, 8}, -1, 1, {}, 2),
               v = random_tensor({4, 3}, -1, 1, {}, 3);
  const auto attended = [&](const Tensor& keys, const Tensor& values) {
    return scaled_dot_product_attention(q, keys, values, {.causal = true});
  };
  const auto spoiled = [](const Tensor& x) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return where((Tensor::arange(4) == 3).unsqueeze(1), nan, x);
  };
  const Tensor whole = attended(k, v), y = attended(spoiled(k), spoiled(v));
  expect_numbers(y, whole.to_vector<double>(), 1e-6);
  const auto gradients = sum(y * y).gradient({q, k, v}),
             expected = sum(whole * whole).gradient({q, k, v});
  for (std::size_t i = 0; i < 3; i++) {
    expect_numbers(gradients[i], expected[i].to_vector<double>(), 1e-6);
  }
}

TEST(Functional, DropsOut) {
  manual_seed(3);
  const Tensor x = Tensor::ones({10000});
  const std::vector<float> y = dropout(x, 0.25, true).to_vector<float>();
  int zeros = 0;
  for (float v : y) {
    if (v == 0) {
      zeros++;
    } else {
      EXPECT_FLOAT_EQ(v, 1 / 0.75f);
    }
  }
  EXPECT_NEAR(zeros, 2500, 200);
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(dropout(x, 0.5, false)) || true);
  expect_numbers(dropout(x, 0.5, false).sum(), {10000});
  expect_numbers(dropout(x, 1, true).sum(), {0});
}

TEST(Functional, Losses) {
  const Tensor logits = Tensor::from_data({2., 1., 0., 0., 0., 3.}, {2, 3});
  const Tensor target = Tensor::from_data({0, 2}, {2});
  const double first = std::log(1 + std::exp(-1) + std::exp(-2)),
               second = std::log(1 + 2 * std::exp(-3));
  expect_numbers(cross_entropy(logits, target, {.reduction = Reduction::None}), {first, second},
                 1e-9);
  expect_numbers(cross_entropy(logits, target), {(first + second) / 2}, 1e-9);
  expect_numbers(cross_entropy(logits, target, {.reduction = Reduction::Sum}), {first + second},
                 1e-9);
  expect_numbers(cross_entropy(logits[0], target[0]), {first}, 1e-9);
  expect_numbers(nll_loss(logits, target), {-2.5}, 1e-9);
  const double uniform = (first + first + 1 + first + 2) / 3;
  expect_numbers(cross_entropy(logits[0], target[0], {.label_smoothing = 0.1}),
                 {0.9 * first + 0.1 * uniform}, 1e-9);
  expect_numbers(mse_loss(logits[0], logits[1]), {(4 + 1 + 9) / 3.0}, 1e-9);
  const Tensor x = Tensor::from_data({0., 100., -100.}, {3}),
               t = Tensor::from_data({1., 1., 0.5}, {3});
  expect_numbers(binary_cross_entropy_with_logits(x, t, {.reduction = Reduction::None}),
                 {std::log(2), 0, 50}, 1e-9);
  EXPECT_EQ(
      cross_entropy(random_tensor({2, 3, 4}, -1, 1), Tensor::zeros({2, 4}, {.dtype = DType::Int64}),
                    {.reduction = Reduction::None})
          .shape(),
      (Shape{2, 4}));
}

TEST(Functional, GradientsAgreeWithTheReference) {
  const Tensor x = random_tensor({3, 5}, -2, 2), w = random_tensor({5}, 0.5, 1, {}, 2);
  const Tensor b = random_tensor({5}, -1, 1, {}, 3), t = Tensor::from_data({1, 4, 0}, {3});
  for (const Tensor& g : layer_norm(x, 1, w, b).square().sum().gradient({x, w, b}))
    expect_reference(g, 1e-4);
  expect_reference(cross_entropy(x, t).gradient({x})[0], 1e-5);
  const auto [mean, var] = batch_statistics(x);
  expect_reference((batch_norm(x, mean, var, w, b) * x).sum().gradient({x})[0], 1e-4);
  const Tensor q = random_tensor({4, 8}, -1, 1);
  expect_reference(
      scaled_dot_product_attention(q, q, q, {.causal = true}).square().sum().gradient({q})[0],
      1e-4);
}

TEST(Functional, CrossEntropyHasTheGradientOfSoftmax) {
  const Tensor x = random_tensor({2, 3}, -2, 2), t = Tensor::from_data({1, 2}, {2});
  const Tensor expected = (x.softmax(1) - one_hot(t, 3)) / 2;
  expect_numbers(cross_entropy(x, t).gradient({x})[0], expected.to_vector<double>(), 1e-6);
}

}  // namespace
}  // namespace croze
