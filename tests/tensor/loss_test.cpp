// Losses and activations against their definitions, written out in double.
#include "croze/tensor/network/loss.h"

#include <cmath>
#include <functional>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Numbers = std::vector<double>;

Numbers mapped(const Numbers& x, const Numbers& t, const std::function<double(double, double)>& f) {
  Numbers y;
  for (std::size_t i = 0; i < x.size(); i++) y.push_back(f(x[i], t[i]));
  return y;
}

double mean_of(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

const Numbers xs = {-3, -1.2, -0.4, 0, 0.3, 0.9, 2.5, 4}, ts = {1, -1, 1, -1, -1, 1, 1, -1};

Tensor tensor(const Numbers& x) {
  return Tensor::from_data(x, {static_cast<std::int64_t>(x.size())});
}

TEST(Activation, Definitions) {
  using F = std::function<double(double)>;
  const std::pair<Tensor, F> cases[] = {
      {logsigmoid(tensor(xs)), [](double x) { return -std::log1p(std::exp(-x)); }},
      {quick_gelu(tensor(xs)), [](double x) { return x / (1 + std::exp(-1.702 * x)); }},
      {softsign(tensor(xs)), [](double x) { return x / (1 + std::abs(x)); }},
      {tanhshrink(tensor(xs)), [](double x) { return x - std::tanh(x); }},
      {celu(tensor(xs), 2), [](double x) { return x > 0 ? x : 2 * (std::exp(x / 2) - 1); }},
      {selu(tensor(xs)),
       [](double x) {
         return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1));
       }},
      {hardsigmoid(tensor(xs)), [](double x) { return std::clamp(x + 3, 0., 6.) / 6; }},
      {hardswish(tensor(xs)), [](double x) { return x * std::clamp(x + 3, 0., 6.) / 6; }},
      {hardshrink(tensor(xs)), [](double x) { return std::abs(x) > 0.5 ? x : 0; }},
      {softshrink(tensor(xs)), [](double x) { return x > 0.5    ? x - 0.5
                                                     : x < -0.5 ? x + 0.5
                                                                : 0; }},
      {threshold(tensor(xs), 0.5, -7), [](double x) { return x > 0.5 ? x : -7; }},
      {prelu(tensor(xs), tensor({0.1})), [](double x) { return x > 0 ? x : 0.1 * x; }},
      {softplus(tensor(xs), 2, 3),
       [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }}};
  for (const auto& [got, f] : cases)
    expect_numbers(got, mapped(xs, xs, [&](double x, double) { return f(x); }), 1e-12);
  expect_numbers(glu(tensor({1, 2, 0, 0}), 0), {0.5, 1});
  expect_numbers(softmin(tensor({0, std::log(3)}), 0), {0.75, 0.25}, 1e-12);
}

TEST(Activation, GumbelDrawsOneClass) {
  manual_seed(5);
  const Tensor x = Tensor::zeros({2000, 4});
  const Tensor y = gumbel_softmax(x, 0.5, true);
  expect_numbers(y.sum(1).min(), {1}, 1e-6);
  for (double share : y.mean(0).to_vector<double>()) EXPECT_NEAR(share, 0.25, 0.05);
}

TEST(Loss, Distances) {
  const Tensor x = tensor(xs), t = tensor(ts);
  const Reduction none = Reduction::None;
  expect_numbers(l1_loss(x, t, none),
                 mapped(xs, ts, [](double a, double b) { return std::abs(a - b); }));
  const auto huber = [](double a, double b) {
    const double d = std::abs(a - b);
    return d < 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
  };
  expect_numbers(huber_loss(x, t, none, 0.7), mapped(xs, ts, huber), 1e-12);
  expect_numbers(smooth_l1_loss(x, t, Reduction::Mean, 0.7), {mean_of(mapped(xs, ts, huber)) / 0.7},
                 1e-12);
  expect_numbers(soft_margin_loss(x, t, none),
                 mapped(xs, ts, [](double a, double b) { return std::log(1 + std::exp(-a * b)); }),
                 1e-12);
  expect_numbers(
      hinge_embedding_loss(x, t, 1.5, none),
      mapped(xs, ts, [](double a, double b) { return b == 1 ? a : std::max(0., 1.5 - a); }), 1e-12);
  error_of([&] { l1_loss(x, t.narrow(0, 0, 3)); });
}

TEST(Loss, Likelihoods) {
  const Numbers ps = {0.1, 0.5, 0.9, 1, 0}, ys = {1, 0, 0.5, 1, 1};
  const auto log100 = [](double v) { return std::max(std::log(v), -100.); };
  expect_numbers(
      binary_cross_entropy(tensor(ps), tensor(ys), {.reduction = Reduction::None}),
      mapped(ps, ys,
             [&](double p, double y) { return -(y * log100(p) + (1 - y) * log100(1 - p)); }),
      1e-12);
  expect_numbers(
      binary_cross_entropy_with_logits(tensor(xs), tensor(ts),
                                       {.reduction = Reduction::None, .pos_weight = tensor({3})}),
      mapped(xs, ts,
             [](double x, double t) {
               const double p = 1 / (1 + std::exp(-x));
               return -(3 * t * std::log(p) + (1 - t) * std::log(1 - p));
             }),
      1e-9);
  expect_numbers(kl_div(tensor({-1, -2}), tensor({0.5, 0}), {.reduction = Reduction::Sum}),
                 {0.5 * (std::log(0.5) + 1)}, 1e-12);
  expect_numbers(kl_div(tensor({-1, -2}), tensor({-0.5, -1}),
                        {.reduction = Reduction::Sum, .log_target = true}),
                 {std::exp(-0.5) * 0.5 + std::exp(-1.)}, 1e-12);
  expect_numbers(poisson_nll_loss(tensor({0.5}), tensor({3}), {.full = true}),
                 {std::exp(0.5) - 1.5 + 3 * std::log(3) - 3 + 0.5 * std::log(6 * M_PI)}, 1e-12);
  expect_numbers(gaussian_nll_loss(tensor({1}), tensor({3}), tensor({4}), {.full = true}),
                 {0.5 * (std::log(4) + 1) + 0.5 * std::log(2 * M_PI)}, 1e-12);
}

TEST(Loss, ClassesWithWeightsAndIgnoredTargets) {
  const Tensor logits = Tensor::from_data({2., 1., 0., 0., 0., 3., 1., 1., 1.}, {3, 3});
  const Tensor target = Tensor::from_data({0, 2, 1}, {3});
  const Tensor weight = Tensor::from_data({1., 2., 4.}, {3});
  const double l0 = std::log(1 + std::exp(-1) + std::exp(-2));
  const double l1 = std::log(1 + 2 * std::exp(-3)), l2 = std::log(3);
  expect_numbers(cross_entropy(logits, target, {.weight = weight}), {(l0 + 4 * l1 + 2 * l2) / 7},
                 1e-12);
  expect_numbers(cross_entropy(logits, target, {.ignore_index = 2}), {(l0 + l2) / 2}, 1e-12);
  expect_numbers(cross_entropy(logits, Tensor::from_data({0, -100, 1}, {3})), {(l0 + l2) / 2},
                 1e-12);
  const Tensor soft = Tensor::from_data({0.5, 0.5, 0., 0., 0., 1., 1., 0., 0.}, {3, 3});
  expect_numbers(cross_entropy(logits, soft), {(l0 + 0.5 + l1 + l2) / 3}, 1e-12);
  // Smoothing with weights: the uniform part has the weights of the classes.
  const double u0 = (l0 * 1 + (l0 + 1) * 2 + (l0 + 2) * 4) / 3;
  expect_numbers(cross_entropy(logits.narrow(0, 0, 1), target.narrow(0, 0, 1),
                               {.weight = weight, .label_smoothing = 0.3}),
                 {0.7 * l0 + 0.3 * u0}, 1e-12);
}

TEST(Loss, Margins) {
  const Tensor x = Tensor::from_data({0.1, 0.2, 0.4, 0.8}, {1, 4});
  // The example of PyTorch's documentation of multilabel_margin_loss.
  expect_numbers(multilabel_margin_loss(x, Tensor::from_data({3, 0, -1, 1}, {1, 4})), {0.85}, 1e-9);
  expect_numbers(multi_margin_loss(x, Tensor::from_data({3}, {1})), {(0.3 + 0.4 + 0.6) / 4}, 1e-9);
  expect_numbers(multi_margin_loss(x, Tensor::from_data({3}, {1}), {.p = 2}),
                 {(0.09 + 0.16 + 0.36) / 4}, 1e-9);
  expect_numbers(margin_ranking_loss(tensor({1, 2}), tensor({3, 1}), tensor({1, 1}), 0.5), {1.25});
  const Tensor a = Tensor::from_data({0., 0.}, {1, 2}), p = Tensor::from_data({3., 4.}, {1, 2});
  const Tensor n = Tensor::from_data({0., 1.}, {1, 2});
  expect_numbers(triplet_margin_loss(a, p, n, {.epsilon = 0}), {5}, 1e-9);
  expect_numbers(cosine_embedding_loss(p, n, tensor({1})), {1 - 0.8}, 1e-9);
  expect_numbers(cosine_similarity(p, n), {0.8}, 1e-9);
  expect_numbers(normalize(p), {0.6, 0.8}, 1e-9);
  expect_numbers(cdist(a, p, 1), {7}, 1e-9);
}

// All alignments of length t that collapse to the labels, summed.
double alignments(const Numbers& log_probs, int steps, int classes,
                  const std::vector<int>& labels) {
  double total = 0;
  int count = 1;
  for (int t = 0; t < steps; t++) count *= classes;
  for (int code = 0; code < count; code++) {
    std::vector<int> path, collapsed;
    for (int t = 0, rest = code; t < steps; t++, rest /= classes) path.push_back(rest % classes);
    double sum = 0;
    for (int t = 0; t < steps; t++) {
      sum += log_probs[static_cast<std::size_t>(t * classes + path[static_cast<std::size_t>(t)])];
      const int c = path[static_cast<std::size_t>(t)];
      const bool repeats = t > 0 && path[static_cast<std::size_t>(t - 1)] == c;
      if (c != 0 && !repeats) collapsed.push_back(c);
    }
    if (collapsed == labels) total += std::exp(sum);
  }
  return -std::log(total);
}

TEST(Loss, CtcSumsOverAllAlignments) {
  const Tensor scores = random_tensor({4, 2, 3}, -2, 2, {.dtype = DType::Float64});
  const Tensor log_probs = log_softmax(scores, 2).realize();
  const auto sample = [&](std::int64_t i, std::int64_t steps) {
    return log_probs.narrow(0, 0, steps).narrow(1, i, 1).to_vector<double>();
  };
  const double first = alignments(sample(0, 4), 4, 3, {1, 1});
  const double second = alignments(sample(1, 3), 3, 3, {2});
  const Tensor lengths = Tensor::from_data({4, 3}, {2}), counts = Tensor::from_data({2, 1}, {2});
  const CtcLossOptions none{.reduction = Reduction::None};
  expect_numbers(
      ctc_loss(log_probs, Tensor::from_data({1, 1, 2, 0}, {2, 2}), lengths, counts, none),
      {first, second}, 1e-10);
  expect_numbers(ctc_loss(log_probs, Tensor::from_data({1, 1, 2}, {3}), lengths, counts),
                 {(first / 2 + second) / 2}, 1e-10);
  expect_numbers(ctc_loss(log_probs, Tensor::from_data({1, 1, 1, 1, 2, 0, 0, 0}, {2, 4}), lengths,
                          Tensor::from_data({4, 1}, {2}), none)
                     .narrow(0, 0, 1),
                 {INFINITY});
}

}  // namespace
}  // namespace croze
