// How many kernels a computation takes: what the scheduler fuses, and what it does not repeat.
#include <gtest/gtest.h>

#include <vector>

#include "croze/run/execute.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/explain.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/tensor.h"

namespace croze {
namespace {

Tensor data(const Shape& shape) { return Tensor::rand(shape).realize(); }

std::int64_t kernels_of(Tensor result) {
  const std::int64_t before = run_statistics().kernels;
  result.realize();
  return run_statistics().kernels - before;
}

TEST(KernelCount, AnElementwiseChainIsOneKernel) {
  const Tensor x = data({64, 64});
  EXPECT_EQ(kernels_of(((x + 1.0).exp() * x).relu()), 1);
}

TEST(KernelCount, RowsAssignedOneByOneAreOneLaunch) {
  const Tensor y = data({200, 16});
  Tensor in_memory = Tensor::zeros({200, 16}).contiguous().realize();
  Tensor value = Tensor::zeros({200, 16});
  for (int i = 0; i < 200; i++) {
    in_memory[i] = y[i] * 2;
    value[i] = y[199 - i] * 2;
  }
  const RunStatistics before = run_statistics();
  EXPECT_EQ(kernels_of(in_memory), 1);
  EXPECT_EQ(kernels_of(value), 2);  // the zeros, too
  const RunStatistics now = run_statistics();
  EXPECT_LT(now.schedule_seconds - before.schedule_seconds, 1);
  EXPECT_LE(now.kernels_compiled - before.kernels_compiled, 2);
  EXPECT_EQ((in_memory == y * 2).all().item<bool>(), true);
  EXPECT_EQ((value == y.flip(0) * 2).all().item<bool>(), true);
}

TEST(KernelCount, SoftmaxIsOneKernel) { EXPECT_EQ(kernels_of(data({64, 128}).softmax(-1)), 1); }

TEST(KernelCount, LayerNormIsOneKernel) {
  const Tensor x = data({64, 128}), weight = data({128}), bias = data({128});
  EXPECT_EQ(kernels_of(layer_norm(x, 1, weight, bias)), 1);
}

TEST(KernelCount, ConvolutionBiasAndReluAreOneKernel) {
  const Tensor x = data({2, 3, 16, 16}), w = data({4, 3, 3, 3}), b = data({4});
  EXPECT_EQ(kernels_of(conv2d(x, w, b, {.padding = 1}).relu()), 1);
}

// An activation that uses what it is of twice, x > 0 ? x : 0, is computed once for each element and
// not for each place of the windows that read it.
TEST(KernelCount, AnActivationIsStoredWithWhatItIsOf) {
  const Tensor x = data({1, 8, 16, 16}), w = data({8, 8, 3, 3}), each = data({8, 1, 3, 3});
  const auto flops = [&](const Tensor& made) {
    std::int64_t total = 0;
    const Explanation e = explain({conv2d(made, each, {}, {.padding = 1, .groups = 8})});
    for (const auto& launch : e.launches) total += launch.flops;
    return total;
  };
  const Tensor made = conv2d(x, w, {}, {.padding = 1});
  EXPECT_LE(flops(made.relu()) - flops(made), 2 * made.numel());
}

TEST(KernelCount, MatrixMultiplyWithItsEpilogueIsOneKernel) {
  const Tensor a = data({32, 48}), b = data({48, 64}), c = data({64});
  EXPECT_EQ(kernels_of((a.matmul(b) + c).tanh()), 1);
}

// As one kernel, the five stages of a block of 32 would be eighty logarithms without a loop.
TEST(KernelCount, AScanIsOneNestUnlessItsStepsAreLong) {
  const auto nests_of = [](const Tensor& result) {
    return summary_of(*prepare(std::vector{result.node()})).nests;
  };
  EXPECT_EQ(nests_of(cumsum(data({32}), 0)), 1);
  EXPECT_EQ(nests_of(logcumsumexp(data({32}), 0)), 5);
}

TEST(KernelCount, EmbeddingIsOneGather) {
  const Tensor table = data({1000, 16});
  const Tensor tokens = Tensor::from_data(std::vector<std::int32_t>{5, 999, 0, 5}, {4}).realize();
  EXPECT_EQ(kernels_of(embedding(table, tokens)), 1);
}

// The product of two matrices is not computed again for every use.
TEST(KernelCount, ASharedMatrixProductIsStored) {
  const Tensor a = data({32, 32}), b = data({32, 32});
  const Tensor product = a.matmul(b);
  const UOp result = product.exp().matmul(product).node();
  const RunSummary summary = summary_of(*prepare(std::span(&result, 1)));
  EXPECT_EQ(summary.nests, 3);    // the product, the exponentials, the other product,
  EXPECT_EQ(summary.kernels, 1);  // small enough to be one sequence
}

TEST(KernelCount, AGraphOfTheSameFormIsScheduledOnce) {
  const Tensor x = data({40, 8}), y = data({40, 8});
  kernels_of((x * 3.0).sum(1));
  const std::int64_t before = run_statistics().schedules_built;
  kernels_of((y * 3.0).sum(1));
  EXPECT_EQ(run_statistics().schedules_built, before);
}

TEST(KernelCount, AKernelReadsNoMoreBuffersThanDevicesAllow) {
  std::vector<Tensor> terms;
  for (int i = 0; i < 150; i++) terms.push_back(Tensor::full({8}, i).contiguous().realize());
  Tensor sum = terms[0];
  for (std::size_t i = 1; i < terms.size(); i++) sum = sum + terms[i];
  const std::int64_t before = run_statistics().kernels;
  EXPECT_EQ(sum.to_vector<float>()[7], 149.0F * 150 / 2);
  EXPECT_LE(run_statistics().kernels - before, 10);
}

}  // namespace
}  // namespace croze
