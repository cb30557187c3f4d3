// Layers: shapes, starting values, and results compared with hand-written loops.
#include "croze/nn/layers.h"

#include <cmath>
#include <numeric>

#include "croze/nn/recurrent.h"
#include "nn/models.h"

namespace croze {
namespace {

using test::error_of;
using test::expect_near;

struct Moments {
  double low = 0, high = 0, mean = 0, deviation = 0;
};

Moments moments_of(const Tensor& t) {
  const std::vector<double> values = t.to_vector<double>();
  const double count = static_cast<double>(values.size());
  Moments m{values[0], values[0], std::accumulate(values.begin(), values.end(), 0.0) / count, 0};
  for (double v : values) {
    m.low = std::min(m.low, v);
    m.high = std::max(m.high, v);
    m.deviation += (v - m.mean) * (v - m.mean) / count;
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

// Uniform within the bound: reaches near both ends, deviation bound / sqrt(3).
void expect_uniform(const Tensor& t, double bound) {
  const Moments m = moments_of(t);
  EXPECT_GE(m.low, -bound);
  EXPECT_LE(m.high, bound);
  EXPECT_LT(m.low, -0.95 * bound);
  EXPECT_GT(m.high, 0.95 * bound);
  EXPECT_NEAR(m.mean, 0, 0.05 * bound);
  EXPECT_NEAR(m.deviation, bound / std::sqrt(3), 0.05 * bound);
}

TEST(Linear, MultipliesAndAdds) {
  nn::Linear layer(2, 3);
  layer.weight.assign(Tensor::from_data({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2}));
  layer.bias.assign(Tensor::from_data({10.f, 20.f, 30.f}, {3}));
  expect_near(layer(Tensor::from_data({1.f, -1.f}, {1, 2})), {9, 19, 29}, 1e-6);
  EXPECT_FALSE(nn::Linear(2, 3, {.bias = false}).bias.defined());
}

TEST(Linear, StartsAsInPyTorch) {
  manual_seed(1);
  const nn::Linear layer(64, 100);
  EXPECT_EQ(layer.weight.shape(), Shape({100, 64}));
  expect_uniform(layer.weight, 1.0 / 8);
  EXPECT_NE(nn::Linear(64, 100).weight.to_vector<float>(), layer.weight.to_vector<float>());
}

TEST(Linear, TakesDTypes) {
  const nn::Linear layer(4, 2, {.tensor = {.dtype = DType::BFloat16}});
  EXPECT_EQ(layer.weight.dtype(), DType::BFloat16);
  EXPECT_EQ(layer(Tensor::ones({3, 4}, {.dtype = DType::BFloat16})).dtype(), DType::BFloat16);
}

TEST(Conv2d, AgreesWithLoops) {
  manual_seed(2);
  const nn::Conv2d layer(4, 6, {3, 2}, {.stride = 2, .padding = {1, 0}, .groups = 2});
  EXPECT_EQ(layer.weight.shape(), Shape({6, 2, 3, 2}));
  const Tensor x = Tensor::randn({2, 4, 5, 6}).realize();
  const auto in = x.to_vector<double>(), w = layer.weight.to_vector<double>(),
             b = layer.bias.to_vector<double>();
  std::vector<double> expected;
  for (int n = 0; n < 2; n++)
    for (int o = 0; o < 6; o++)
      for (int y = 0; y < 3; y++)
        for (int z = 0; z < 3; z++) {
          double sum = b[o];
          for (int c = 0; c < 2; c++)
            for (int i = 0; i < 3; i++)
              for (int j = 0; j < 2; j++) {
                const int row = 2 * y + i - 1, column = 2 * z + j, channel = o / 3 * 2 + c;
                if (row < 0 || row >= 5) continue;
                sum += w[((o * 2 + c) * 3 + i) * 2 + j] *
                       in[((n * 4 + channel) * 5 + row) * 6 + column];
              }
          expected.push_back(sum);
        }
  const Tensor y = layer(x);
  EXPECT_EQ(y.shape(), Shape({2, 6, 3, 3}));
  expect_near(y, expected, 1e-5);
}

TEST(Conv2d, StartsAsInPyTorch) {
  manual_seed(3);
  const nn::Conv2d layer(16, 32, 3);
  expect_uniform(layer.weight, 1 / std::sqrt(16 * 9));
}

TEST(BatchNorm2d, NormalisesByTheBatchAndRemembersIt) {
  manual_seed(4);
  nn::BatchNorm2d layer(2);
  const Tensor x = (Tensor::randn({3, 2, 4, 4}) * 3 + 5).realize();
  const Tensor y = layer(x, true);
  const auto in = x.to_vector<double>();
  std::vector<double> expected(in.size()), means(2), variances(2);
  for (int c = 0; c < 2; c++) {
    const auto at = [&](int n, int i) { return static_cast<std::size_t>((n * 2 + c) * 16 + i); };
    double mean = 0, var = 0;
    for (int n = 0; n < 3; n++)
      for (int i = 0; i < 16; i++) mean += in[at(n, i)] / 48;
    for (int n = 0; n < 3; n++)
      for (int i = 0; i < 16; i++) var += (in[at(n, i)] - mean) * (in[at(n, i)] - mean) / 48;
    for (int n = 0; n < 3; n++)
      for (int i = 0; i < 16; i++)
        expected[at(n, i)] = (in[at(n, i)] - mean) / std::sqrt(var + 1e-5);
    means[c] = 0.1 * mean;
    variances[c] = 0.9 + 0.1 * var * 48 / 47;
  }
  expect_near(y, expected, 1e-4);
  expect_near(layer.running_mean, means, 1e-4);
  expect_near(layer.running_var, variances, 1e-4);
}

TEST(BatchNorm2d, UsesTheRunningStatisticsWhenNotTraining) {
  nn::BatchNorm2d layer(1);
  layer.running_mean.assign(3);
  layer.running_var.assign(4);
  layer.weight.assign(2);
  layer.bias.assign(1);
  expect_near(layer(Tensor::full({1, 1, 1, 1}, 7.0), false), {5}, 1e-4);
  EXPECT_EQ(layer.running_mean.item<float>(), 3);
}

TEST(BatchNorm2d, ItsStatisticsAreNoParameters) {
  const nn::BatchNorm2d layer(3);
  EXPECT_EQ(test::names_of(nn::named_parameters(layer)),
            (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(nn::state_dict(layer).size(), 4u);
  EXPECT_EQ(nn::parameters(nn::BatchNorm2d(3, {.affine = false})).size(), 0u);
}

TEST(LayerNorm, NormalisesTheLastAxes) {
  nn::LayerNorm layer({2, 2});
  layer.weight.assign(Tensor::from_data({1.f, 1.f, 1.f, 2.f}, {2, 2}));
  const double s = std::sqrt(1.25 + 1e-5);
  expect_near(layer(Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {1, 2, 2})),
              {-1.5 / s, -0.5 / s, 0.5 / s, 3 / s}, 1e-5);
}

TEST(Embedding, LooksUpRows) {
  const nn::Embedding layer(10, 3);
  const auto rows = layer.weight.to_vector<double>();
  const Tensor y = layer(Tensor::from_data({7, 0}, {2, 1}));
  EXPECT_EQ(y.shape(), Shape({2, 1, 3}));
  expect_near(y, {rows[21], rows[22], rows[23], rows[0], rows[1], rows[2]}, 0);
}

TEST(Embedding, StartsNormal) {
  manual_seed(5);
  const Moments m = moments_of(nn::Embedding(100, 64).weight);
  EXPECT_NEAR(m.mean, 0, 0.05);
  EXPECT_NEAR(m.deviation, 1, 0.05);
}

TEST(Dropout, ZeroesAShareAndScalesTheRest) {
  manual_seed(6);
  const nn::Dropout layer{0.25};
  const Tensor x = Tensor::ones({100, 100});
  const auto y = layer(x, true).to_vector<double>();
  const auto zeros = static_cast<double>(std::ranges::count(y, 0.0));
  EXPECT_NEAR(zeros / 10'000, 0.25, 0.02);
  for (double v : y) EXPECT_TRUE(v == 0 || std::abs(v - 4.0 / 3) < 1e-6) << v;
  EXPECT_EQ(layer(x, false).to_vector<double>(), std::vector<double>(10'000, 1.0));
}

TEST(Recurrent, NamesItsParametersAsPyTorchDoes) {
  const nn::LSTM layer(3, 4, {.layers = 2, .bidirectional = true});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : nn::named_parameters(layer)) names.push_back(name);
  ASSERT_EQ(names.size(), 16U);
  EXPECT_EQ(names[0], "weight_ih_l0");
  EXPECT_EQ(names[5], "weight_hh_l0_reverse");
  EXPECT_EQ(names[15], "bias_hh_l1_reverse");
  EXPECT_EQ(layer.weights[2].ih.shape(), (Shape{16, 8}));
  const SequenceResult r = layer(Tensor::ones({5, 2, 3}));
  EXPECT_EQ(r.output.shape(), (Shape{5, 2, 8}));
  EXPECT_EQ(r.h.shape(), (Shape{4, 2, 4}));
  const nn::GRU single(3, 4, {.bias = false, .batch_first = true});
  EXPECT_EQ(nn::named_parameters(single).size(), 2U);
  EXPECT_EQ(single(Tensor::ones({2, 5, 3})).output.shape(), (Shape{2, 5, 4}));
}

TEST(Layers, RefuseSizesThatMakeNoSense) {
  EXPECT_NE(error_of([] { nn::Linear(0, 3); }).find("Linear"), std::string::npos);
  EXPECT_NE(error_of([] { nn::Conv2d(4, 6, 0); }).find("Conv2d"), std::string::npos);
  EXPECT_NE(error_of([] { nn::Conv2d(4, 6, 3, {.groups = 4}); }).find("groups"), std::string::npos);
  EXPECT_NE(error_of([] { nn::Embedding(-1, 3); }).find("Embedding"), std::string::npos);
  EXPECT_NE(error_of([] { nn::BatchNorm2d(0); }).find("BatchNorm2d"), std::string::npos);
  nn::BatchNorm2d one(1);
  EXPECT_NE(error_of([&] {
              one(Tensor::ones({1, 1, 1, 1}), true);
            }).find("needs two"),
            std::string::npos);
}

TEST(Layers, NameTheLineOfTheirCall) {
  const Tensor x = Tensor::ones({2, 3});
  nn::BatchNorm2d norm(4);
  const auto expect_line = [](int line, auto misuse) {
    const std::string text = error_of(misuse);
    EXPECT_NE(text.find("layers_test.cpp:" + std::to_string(line)), std::string::npos) << text;
  };
  // Each on one line: it is the line that is asked for.
  expect_line(__LINE__, [&] { nn::Linear(0, 2); });
  expect_line(__LINE__, [&] { nn::Linear(2, 3)(x); });
  expect_line(__LINE__, [&] { nn::Conv2d(3, 4, 3)(x); });
  expect_line(__LINE__, [&] { norm(x, true); });
  expect_line(__LINE__, [&] { norm(x, false); });
  expect_line(__LINE__, [&] { nn::LayerNorm({4})(x); });
  expect_line(__LINE__, [&] { nn::Embedding(3, 2)(x); });
  expect_line(__LINE__, [&] { nn::Dropout{2}(x, true); });
  expect_line(__LINE__, [&] { nn::GRU(2, 3)(x); });
  expect_line(__LINE__, [&] { nn::LSTM(0, 3); });
}

}  // namespace
}  // namespace croze
