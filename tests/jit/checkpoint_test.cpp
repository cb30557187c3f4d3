// Checkpointed functions: the values and gradients of the function, in less memory.
#include "croze/jit/checkpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;
using Doubles = std::vector<double>;

Tensor random(const Shape& shape) { return Tensor::randn(shape).cast(DType::Float64).realize(); }

void expect_equal(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); i++) {
    const Doubles a = actual[i].to_vector<double>(), e = expected[i].to_vector<double>();
    ASSERT_EQ(a.size(), e.size());
    for (std::size_t k = 0; k < a.size(); k++) EXPECT_NEAR(a[k], e[k], 1e-12) << i << ", " << k;
  }
}

TEST(Checkpoint, HasTheValuesAndGradientsOfTheFunction) {
  const Tensor w = random({3, 3}), v = random({3}), x = random({2, 3});
  const auto block = [&](const Tensor& t) { return tanh(matmul(t, w) + v) * t; };
  // The weights are seen by both blocks, and by what stands around them.
  const auto loss = [&](auto f) { return (f(f(x * v)) * matmul(x, w)).square().sum(); };
  const Tensor plain = loss(block), again = loss(checkpoint(block));
  expect_equal({again}, {plain});
  expect_equal(again.gradient({w, v, x}), plain.gradient({w, v, x}));
}

TEST(Checkpoint, AgreesWithDifferences) {
  const Tensor x = Tensor::from_data({0.3, -1.2}, {2}).realize();
  const auto f = checkpoint([](const Tensor& t) { return exp(sin(t) * t); });
  const Doubles g = f(x).sum().gradient({x})[0].to_vector<double>();
  const Doubles at = x.to_vector<double>();
  for (std::size_t i = 0; i < 2; i++) {
    const auto moved = [&](double by) {
      Doubles values = at;
      values[i] += by;
      return f(Tensor::from_data(values, {2})).sum().item<double>();
    };
    EXPECT_NEAR(g[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-8);
  }
}

TEST(Checkpoint, CanBeDifferentiatedAgain) {
  const Tensor w = random({3}), x = random({3});
  const auto block = [&](const Tensor& t) { return sin(t * w) * t; };
  const auto second = [&](auto f) {
    const std::vector<Tensor> first = f(f(x) * w).sum().gradient({w, x});
    return (first[0] * first[1]).sum().gradient({w, x});
  };
  expect_equal(second(checkpoint(block)), second(block));
}

TEST(Checkpoint, DrawsTheSameRandomNumbersAgain) {
  const Tensor x = Tensor::ones({1000}).cast(DType::Float64).realize();
  const auto f =
      checkpoint([](const Tensor& t) { return t * t * Tensor::rand(t.shape(), DType::Float64); });
  const Tensor y = f(x);
  // y = x² r with dy/dx = 2 x r, at x = 1
  expect_equal({y.sum().gradient({x})[0]}, {y * 2});
}

TEST(Checkpoint, TakesContainersAndClosesOverWhatWasRecorded) {
  const Tensor a = random({2}), b = random({2}), c = random({2});
  const Tensor mask = exp(c);  // recorded, not computed
  const auto f = [&](const std::pair<Tensor, Tensor>& p) {
    return std::vector<Tensor>{p.first * p.second * mask, tanh(p.second) + c};
  };
  const auto loss = [&](auto function) {
    const std::vector<Tensor> r = function(std::pair(a * 2, b));
    return (r[0] * r[1]).sum() + mask.sum();
  };
  const Tensor plain = loss(f), again = loss(checkpoint(f));
  expect_equal(again.gradient({a, b, c}), plain.gradient({a, b, c}));
  expect_equal({again.gradient({mask})}, {plain.gradient({mask})});
}

TEST(Checkpoint, HasItsGradientsAfterTheResultsWereComputedToo) {
  const Tensor w = random({3}), x = random({3});
  const auto f = checkpoint([&](const Tensor& t) { return sin(t * w); });
  const Tensor loss = f(f(x)).sum();
  const std::vector<Tensor> before = loss.gradient({w, x});
  realize(before);
  loss.realize();
  expect_equal(loss.gradient({w, x}), before);
}

TEST(Checkpoint, RefusesResultsThatAreNoFloats) {
  const auto f = checkpoint([](const Tensor& t) { return t.cast(DType::Int32); });
  const std::string error = error_of([&] { f(random({1})); });
  EXPECT_NE(error.find("not a float tensor"), std::string::npos) << error;
}

TEST(Checkpoint, TakesInputsWithoutElements) {
  const Tensor w = random({3}), x = random({4, 3});
  const auto f = checkpoint([&](const Tensor& t) { return t.sum() + w.square().sum(); });
  expect_equal(f(x.narrow(0, 0, 0)).gradient({w, x}), {w * 2, x * 0});
}

TEST(Checkpoint, RefusesResultsThatDependOnAnAssignment) {
  Tensor count = random({1});
  const auto f = checkpoint([&](const Tensor& t) {
    count += 1;
    return t * count;
  });
  const std::string error = error_of([&] { f(random({1})); });
  EXPECT_NE(error.find("assigned to"), std::string::npos) << error;
  EXPECT_NE(error.find("checkpoint_test.cpp"), std::string::npos) << error;
}

// ---- in a captured step -------------------------------------------------------------------------

// Blocks of attention and a perceptron, which keep scores of all pairs of rows for their gradients.
struct Net {
  std::vector<std::pair<Tensor, Tensor>> blocks;

  Net(int count, std::int64_t width, const std::string& device) {
    manual_seed(3);
    const TensorOptions there{.dtype = std::nullopt, .device = device};
    for (int i = 0; i < count; i++) {
      const Tensor up = Tensor::randn({width, 4 * width}, there) * 0.3;
      const Tensor down = Tensor::randn({4 * width, width}, there) * 0.3;
      blocks.emplace_back(up.realize(), down.realize());
    }
  }

  static Tensor apply(const Tensor& up, const Tensor& down, const Tensor& x) {
    const Tensor mixed = matmul(softmax(matmul(x, transpose(x, 0, 1)), 1), x);
    return x + matmul(gelu(matmul(mixed, up)), down);
  }

  // One step of training.
  Tensor step(Tensor x, bool again) {
    std::vector<Tensor> weights;
    for (const auto& [up, down] : blocks) {
      const auto block = [u = up, d = down](const Tensor& t) { return apply(u, d, t); };
      x = again ? checkpoint(block)(x) : block(x);
      weights.insert(weights.end(), {up, down});
    }
    const Tensor loss = x.square().mean();
    const std::vector<Tensor> g = loss.gradient(weights);
    for (std::size_t i = 0; i < g.size(); i++) weights[i] -= 0.1 * g[i];
    return loss;
  }
};

TEST(Checkpoint, TrainsTheSame) {
  const auto losses = [](bool again) {
    Net net(2, 4, "");
    auto step = capture([&](const Tensor& x) { return net.step(x, again); });
    std::vector<float> result;
    for (float v : {0.5f, 0.6f, 0.7f})
      result.push_back(step(Tensor::full({3, 4}, v)).item<float>());
    return result;
  };
  const std::vector<float> plain = losses(false), again = losses(true);
  for (std::size_t i = 0; i < plain.size(); i++) {
    EXPECT_NEAR(again[i], plain[i], 1e-5 * plain[i]);
  }
}

TEST(Checkpoint, NeedsLessMemory) {
  const auto bytes = [](bool again) {
    Net net(6, 16, "NULL");
    auto step = capture([&](const Tensor& x) { return net.step(x, again); });
    step(Tensor::ones({256, 16}, {.dtype = std::nullopt, .device = "NULL"}).realize());
    std::int64_t sum = 0;
    for (const ExplainedPeak& p : step.step().explanation().peaks) sum += p.arena_bytes;
    return sum;
  };
  const std::int64_t plain = bytes(false), again = bytes(true);
  EXPECT_LT(again, plain / 2) << again << " instead of " << plain;
}

}  // namespace
}  // namespace croze
