// loss.gradient({..}) through the compiled path.
#include <cmath>
#include <limits>

#include "croze/graph/uop.h"
#include "croze/run/execute.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(TensorGradient, DifferentiatesByEveryTarget) {
  const Tensor x = random_tensor({4, 3}, -1, 1), w = random_tensor({2, 3}, -1, 1, {}, 2);
  const Tensor b = random_tensor({2}, -1, 1, {}, 3);
  const Tensor hidden = tanh(linear(x, w, b));
  const auto g = hidden.square().mean().gradient({x, w, b, hidden});
  EXPECT_EQ(g[1].shape(), (Shape{2, 3}));
  EXPECT_EQ(g[3].shape(), (Shape{4, 2}));
  for (const Tensor& t : g) expect_reference(t, 1e-5);
}

// Differences through the compiled path, in Float64.
TEST(TensorGradient, AgreesWithDifferencesThroughTheCompiledPath) {
  const std::vector<double> start =
      random_tensor({6}, -1, 1, {.dtype = DType::Float64}).to_vector<double>();
  const auto loss_at = [](const Tensor& v) {
    const Tensor m = v.reshape({2, 3});
    return (softmax(m, 1) * sin(m) + matmul(m.transpose(), m).sum(0)[0]).sum() + m.max() * m.prod();
  };
  const Tensor x = Tensor::from_data(start, {6});
  const std::vector<double> got = loss_at(x).gradient({x})[0].to_vector<double>();
  for (std::size_t i = 0; i < start.size(); i++) {
    std::vector<double> up = start, down = start;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    const double difference = (loss_at(Tensor::from_data(up, {6})).item<double>() -
                               loss_at(Tensor::from_data(down, {6})).item<double>()) /
                              2e-6;
    EXPECT_NEAR(got[i], difference, 1e-7);
  }
}

TEST(TensorGradient, OfAMaskedProductStaysBehindTheMask) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor mask = Tensor::ones({3, 3}, {.dtype = DType::Bool}).tril();
  const Tensor x = random_tensor({3, 3}, -1, 1),
               y = where(mask, random_tensor({3, 3}, 1, 2), infinity);
  const auto g = sum(where(mask, x * y, 0) * 2).gradient({x, y});
  expect_numbers(g[0], where(mask, y * 2, 0).to_vector<double>(), 1e-6);
  expect_numbers(g[1], where(mask, x * 2, 0).to_vector<double>(), 1e-6);
  // Below a sum the mask is seen through the views that repeat what flows into it.
  const Tensor keys = where((Tensor::arange(3) == 2).unsqueeze(1), infinity, x.detach());
  const Tensor scores = where(mask, matmul(x, keys.transpose()), 0);
  expect_numbers(scores.sum().gradient({x})[0][0], keys[0].to_vector<double>(), 1e-6);
}

TEST(TensorGradient, CanBeTakenAgain) {
  const Tensor x = Tensor::from_data({1.5, -2.0}, {2});
  const Tensor first = (x * x * x).sum().gradient({x})[0];
  expect_numbers(first, {6.75, 12});
  expect_numbers(first.sum().gradient({x})[0], {9, -12});
}

TEST(TensorGradient, FlowsThroughWhatWasRealized) {
  const Tensor x = Tensor::from_data({1., 2.}, {2});
  const Tensor h = x * 3;
  const Tensor y = (h * h).sum();
  h.realize();
  y.realize();
  const auto g = y.gradient({h, x});
  expect_numbers(g[0], {6, 12});
  expect_numbers(g[1], {18, 36});
}

TEST(TensorGradient, ReadsComputedValuesFromMemory) {
  const Tensor x = Tensor::from_data({1., 2.}, {2});
  const Tensor h = exp(x);
  const Tensor y = h.sum();
  realize({h, y});
  // The gradient is h itself, which is there already.
  const std::int64_t before = run_statistics().kernels;
  const Tensor g = y.gradient({x})[0];
  expect_numbers(g, {std::exp(1), std::exp(2)});
  EXPECT_LE(run_statistics().kernels, before + 1);
  EXPECT_EQ(g.node().is(Op::Exp), false);
}

TEST(TensorGradient, TheLossMayBeReadBeforeAndEvenAfterAStepItIsAnErrorAndNotZero) {
  Tensor w = Tensor::from_data({1., 2.}, {2});
  const Tensor loss = (w * w).sum();
  EXPECT_EQ(loss.item<double>(), 5);
  const Tensor g = loss.gradient({w})[0];
  expect_numbers(g, {2, 4});
  w -= g * 0.5;
  w.realize();
  expect_numbers(w, {0, 0});
  const std::string error = error_of([&] { loss.gradient({w}); });
  EXPECT_NE(error.find("was assigned to at "), std::string::npos) << error;
  EXPECT_NE(error.find("gradient_test.cpp"), std::string::npos) << error;
}

TEST(TensorGradient, WorksThroughViewsOfTheTarget) {
  const Tensor x = Tensor::from_data({1., 2., 3., 4.}, {4});
  const Tensor m = x.reshape({2, 2});
  expect_numbers((m[0] * m[1]).sum().gradient({x})[0], {3, 4, 1, 2});
  expect_numbers((m[0] * m[1]).sum().gradient({m})[0], {3, 4, 1, 2});
}

TEST(TensorGradient, PassesThroughAssignments) {
  Tensor x = Tensor::from_data({1., 2., 3.}, {3});
  const Tensor v = Tensor::from_data({5.}, {1});
  x.index_put_({indexing::Slice{1, 2}}, v * v);
  expect_numbers((x * x * x).sum().gradient({v})[0], {3 * std::pow(25, 2) * 10});
}

TEST(TensorGradient, IsZeroForWhatIsNotReached) {
  const Tensor x = Tensor::from_data({1.f}, {1}), y = Tensor::from_data({1.f, 2.f}, {2});
  expect_numbers(x.sum().gradient({y})[0], {0, 0});
}

TEST(TensorGradient, HalfTypesWork) {
  const Tensor x = random_tensor({8, 16}, -1, 1, {.dtype = DType::Float16});
  const Tensor g = matmul(x, x.transpose()).sum().gradient({x})[0];
  EXPECT_EQ(g.dtype(), DType::Float16);
  expect_reference(g, 1e-2);
}

}  // namespace
}  // namespace croze
