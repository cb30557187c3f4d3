// benchmark() times work that is done, not results that are remembered.
#include "croze/tensor/benchmark.h"

#include "croze/run/execute.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

TEST(Benchmark, DoesTheWorkAnewInEachRun) {
  const Tensor m = Tensor::rand({64, 64}).realize();
  const Tensor first = matmul(m, m).realize();
  std::int64_t before = run_statistics().kernels;
  matmul(m, m).realize();
  EXPECT_EQ(run_statistics().kernels, before) << "a result is remembered";
  const Timing t = benchmark([&] { return matmul(m, m); }, {.warm_up = 2, .runs = 7, .seconds = 0});
  EXPECT_EQ(run_statistics().kernels, before + 9);
  EXPECT_EQ(t.runs, 7);
}

TEST(Benchmark, OrdersItsNumbers) {
  int calls = 0;
  const Timing t = benchmark([&] { calls++; }, {.warm_up = 1, .runs = 4, .seconds = 0});
  EXPECT_EQ(calls, 5);
  EXPECT_LE(0, t.least);
  EXPECT_LE(t.least, t.lower);
  EXPECT_LE(t.lower, t.median);
  EXPECT_LE(t.median, t.upper);
  EXPECT_LE(t.upper, t.greatest);
  EXPECT_NE(error_of([] { benchmark([] {}, {.runs = 0}); }).find("benchmark_test.cpp"),
            std::string::npos);
}

TEST(Benchmark, LeavesGradientsAlone) {
  const Tensor x = Tensor::from_data({2.f}, {1});
  const Tensor y = x.square().sum().realize();
  benchmark([&] { return std::vector<Tensor>{x + 1, x * 3}; }, {.runs = 1, .seconds = 0});
  expect_numbers(y.gradient({x})[0], {4});
}

}  // namespace
}  // namespace croze
