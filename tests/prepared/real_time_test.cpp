// real_time_test.cpp -- a run asks nothing of the system: memory, locks and system calls are
// counted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "prepared.h"
#include "support/call_counts.h"

namespace croze {
namespace {

using namespace croze::test;

class RealTime : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_count_calls()) GTEST_SKIP() << "a sanitizer has the place of malloc";
  }

  static void expect_nothing(StepInstance instance) {
    const auto runs = [&] {
      for (int i = 0; i < 3; i++) instance.run();
      instance.reset();
    };
    const CallCounts counts = count_calls(runs);
    EXPECT_EQ(counts.allocations, 0);
    EXPECT_EQ(counts.locks, 0);
    EXPECT_EQ(count_system_calls(runs), 0);
  }
};

TEST_F(RealTime, WhatIsAskedForIsCounted) {
  const CallCounts counts = count_calls([] {
    void* volatile memory = std::malloc(100);
    std::free(memory);
    std::mutex mutex;
    const std::lock_guard lock(mutex);
    operator delete(operator new(10));
  });
  EXPECT_EQ(counts.allocations, 4);
  EXPECT_EQ(counts.locks, 1);
  EXPECT_EQ(count_system_calls([] {
              getppid();
              getppid();
            }),
            2);
}

// So the step itself is seen, too.
TEST_F(RealTime, AReplayAsksForMuch) {
  auto step = capture([](const Tensor& x) { return x + 1.; });
  const Tensor x = Tensor::ones({8}).realize();
  step(x);
  const CallCounts counts = count_calls([&] { step(x); });
  EXPECT_GT(counts.allocations, 0);
  EXPECT_GT(counts.locks, 0);
}

TEST_F(RealTime, ANetworkAsksForNothing) {
  const ConvolutionalNet net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  step(Tensor::uniform({1, 1, 16, 16}, -1, 1).realize());
  expect_nothing(prepare(step).instance());
}

TEST_F(RealTime, BlocksAskForNothing) {
  auto step = capture([](const Tensor& x) { return scaled_dot_product_attention(x, x, x); });
  step(Tensor::uniform({2, 512, 64}, -1, 1).realize());
  const PreparedStep prepared = prepare(step);
  ASSERT_GT(prepared.sizes().calls, prepared.sizes().kernels);
  expect_nothing(prepared.instance());
}

TEST_F(RealTime, ATrainingStepWithRandomNumbersAsksForNothing) {
  const Mlp net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.01});
  auto step = capture([&](const Tensor& x, const Tensor& y) {
    Tensor loss = cross_entropy(dropout(net(x), 0.1, true), y);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  step(Tensor::uniform({32, 8}, -1, 1).realize(), Tensor::zeros({32}, DType::Int32).realize());
  expect_nothing(prepare(step).instance());
}

}  // namespace
}  // namespace croze
