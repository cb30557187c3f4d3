// What the rules do while real programs are compiled, proven firing by firing.
#include "croze/prove/firings.h"

#include <gtest/gtest.h>

#include <optional>

#include "croze/base/options.h"
#include "croze/croze.h"
#include "croze/nn/nn.h"
#include "croze/prove/smt.h"

namespace croze {
namespace {

Tensor data(const Shape& shape) { return Tensor::rand(shape).realize(); }

class Firings : public testing::Test {
 protected:
  void SetUp() override {
    if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
    solver.emplace();
    solver->state(smt_prelude());
    prover.emplace(*solver);
    watching.emplace(*prover);
  }
  void TearDown() override {
    if (!prover) return;
    watching.reset();
    prover->settle();
    EXPECT_EQ(prover->fault(), "");
    EXPECT_GT(prover->firings(), 0);
  }

  Options::Scope fresh{{Option::Cache, 0}};  // a kernel from the cache is not compiled
  std::optional<Solver> solver;
  std::optional<FiringProver> prover;
  std::optional<Observing> watching;
};

TEST_F(Firings, Views) {
  const Tensor x = data({6, 10, 4});
  const Tensor y = x.permute({2, 0, 1}).reshape({8, 30}).pad({1, 2, 0, 3}).flip({1});
  (y.reshape({3, 11, 11}).narrow(0, 0, 2).narrow(1, 1, 9).narrow(2, 3, 6).contiguous() * 2.0)
      .realize();
  roll(cat({x, x.flip({0}), x * 3.0}, 1), {3, -2, 1}, {0, 1, 2}).realize();
}

TEST_F(Firings, Convolutions) {
  const Tensor x = data({2, 3, 9, 9}), w = data({4, 3, 3, 3}), b = data({4});
  max_pool2d(conv2d(x, w, b, {.padding = 1}).relu(), 2).realize();
  Tensor image = data({2, 3, 8, 8}), filter = data({5, 3, 3, 3});
  const Tensor loss = conv2d(image, filter, {}, {.stride = 2, .padding = 1}).square().sum();
  for (Tensor& g : loss.gradient({image, filter})) g.realize();
}

TEST_F(Firings, AttentionAndNormalisation) {
  const Tensor q = data({2, 12, 8}), k = data({2, 12, 8}), v = data({2, 12, 8});
  scaled_dot_product_attention(q, k, v, {.causal = true}).realize();
  const Tensor x = data({16, 24}), scale = data({24});
  const Tensor loss = gelu(layer_norm(x, 1, scale, data({24}))).square().mean();
  for (Tensor& g : loss.gradient({x, scale})) g.realize();
}

TEST_F(Firings, Indexing) {
  const Tensor table = data({50, 8});
  const Tensor tokens = Tensor::from_data(std::vector<std::int32_t>{5, 49, 0, 5}, {4}).realize();
  const Tensor rows = embedding(table, tokens);
  rows.realize();
  for (Tensor& g : (rows * rows).sum().gradient({table})) g.realize();
  (Tensor::arange(20).reshape({4, 5}) % 3).realize();
}

}  // namespace
}  // namespace croze
