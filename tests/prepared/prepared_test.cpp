// prepared_test.cpp -- an instance of a prepared step computes what the step computes.
#include "prepared.h"

#include <croze/croze.h>
#include <croze/nn/nn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "croze/prepared/prepared_step.h"
#include "croze/run/random_state.h"
#include "support/errors.h"

namespace croze {
namespace {

using namespace croze::test;

TEST(Prepared, AConvolutionalNetworkGivesTheSameScores) {
  const ConvolutionalNet net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Tensor image = Tensor::uniform({1, 1, 16, 16}, -1, 1).realize();
  const Numbers expected = step(image).to_vector<float>();
  const PreparedStep prepared = prepare(step, {.inputs = {"image"}, .results = {"scores"}});
  ASSERT_EQ(prepared.inputs().size(), 1u);
  EXPECT_EQ(prepared.inputs()[0].name, "image");
  EXPECT_EQ(prepared.results()[0].shape, Shape({1, 10}));
  EXPECT_TRUE(prepared.state().empty());
  StepInstance instance = prepared.instance();
  give(instance, 0, image);
  for (int i = 0; i < 3; i++) {
    instance.run();
    expect_close(instance.result<float>(0), expected);
  }
  EXPECT_EQ(image.to_bytes(), bytes_of(instance.input(0)));
}

// One kernel of several nests that run block by block.
TEST(Prepared, AttentionRunsBlockByBlock) {
  auto step = capture([](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v);
  });
  std::vector<Tensor> given;
  for (int i = 0; i < 3; i++) given.push_back(Tensor::uniform({4, 512, 64}, -1, 1).realize());
  const Numbers expected = step(given[0], given[1], given[2]).to_vector<float>();
  const PreparedStep prepared = prepare(step);
  EXPECT_GT(prepared.sizes().calls, prepared.sizes().kernels);
  StepInstance instance = prepared.instance();
  for (int i = 0; i < 3; i++) give(instance, i, given[static_cast<std::size_t>(i)]);
  instance.run();
  expect_close(instance.result<float>(0), expected);
}

TEST(Prepared, StateIsKeptFromRunToRunAndGoesBack) {
  const Stream net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  const Tensor row = Tensor::uniform({6}, -1, 1).realize();
  step(row);
  net.restart();
  const PreparedStep prepared = prepare(step, {.tensors = {{"hidden", net.hidden}}});
  ASSERT_EQ(prepared.state().size(), 1u);
  EXPECT_EQ(prepared.state()[0].name, "hidden");
  StepInstance instance = prepared.instance(), other = prepared.instance();
  give(instance, 0, row);
  std::vector<Numbers> results;
  for (int i = 0; i < 5; i++) {
    instance.run();
    results.push_back(numbers_of(instance.result<float>(0)));
    expect_close(instance.result<float>(0), step(row).to_vector<float>());
  }
  expect_close(instance.state<float>(0), net.hidden.to_vector<float>());
  EXPECT_EQ(numbers_of(other.state<float>(0)), Numbers(16, 0.25f));
  instance.reset();
  for (const Numbers& expected : results) {
    instance.run();
    EXPECT_EQ(numbers_of(instance.result<float>(0)), expected);
  }
}

TEST(Prepared, ATrainingStepReachesTheSameLoss) {
  const Mlp net;
  optim::Adam adam(nn::parameters(net), {.learning_rate = 0.01});
  auto step = capture([&](const Tensor& x, const Tensor& y) {
    Tensor loss = cross_entropy(net(x), y);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const Tensor x = Tensor::uniform({32, 8}, -1, 1).realize();
  const Tensor y = x.narrow(1, 0, 3).argmax(1).cast(DType::Int32).realize();
  step(x, y);
  StepInstance instance = prepare(step).instance();
  give(instance, 0, x);
  give(instance, 1, y);
  float first = 0, last = 0;
  for (int i = 0; i < 100; i++) {
    instance.run();
    last = instance.result<float>(0)[0];
    if (i == 0) first = last;
    EXPECT_NEAR(last, step(x, y).item<float>(), 2e-5 * last) << i;
  }
  EXPECT_LT(last, first / 2);
}

TEST(Prepared, RandomNumbersAreThoseOfReplays) {
  auto step = capture([](const Tensor& x) { return dropout(x, 0.5, true) + Tensor::rand({64}); });
  const Tensor x = Tensor::ones({64}).realize();
  step(x);
  const PreparedStep prepared = prepare(step);
  EXPECT_TRUE(prepared.state().empty());
  StepInstance instance = prepared.instance();
  give(instance, 0, x);
  const RandomState before = random_state();
  Numbers first;
  for (int i = 0; i < 3; i++) {
    instance.run();
    if (i == 0) first = numbers_of(instance.result<float>(0));
    EXPECT_EQ(numbers_of(instance.result<float>(0)), step(x).to_vector<float>()) << i;
  }
  instance.seed(before.seed + 1);
  instance.run();
  EXPECT_NE(numbers_of(instance.result<float>(0)), first);
  instance.reset();
  instance.run();
  EXPECT_EQ(numbers_of(instance.result<float>(0)), first);
}

TEST(Prepared, AnInputThatIsAssignedToStaysAsItWasGiven) {
  auto step = capture([](const Tensor& x) {
    Tensor own = x;
    own.assign(own * 2.);
    return own + 1.;
  });
  step(Tensor::ones({3}).realize());
  StepInstance instance = prepare(step).instance();
  std::ranges::copy(Numbers{1, 2, 3}, instance.input<float>(0).begin());
  for (int i = 0; i < 2; i++) {
    instance.run();
    EXPECT_EQ(numbers_of(instance.result<float>(0)), (Numbers{3, 5, 7}));
    EXPECT_EQ(numbers_of(instance.input<float>(0)), (Numbers{1, 2, 3}));
  }
}

TEST(Prepared, OneValueMayBeSeveralResultsAndOneMayBeEmpty) {
  auto step = capture([](const Tensor& x) {
    const Tensor y = x * 2.;
    return std::vector<Tensor>{y, Tensor::zeros({0, 3}), y, y.sum()};
  });
  step(Tensor::ones({3}).realize());
  StepInstance instance = prepare(step).instance();
  std::ranges::copy(Numbers{1, 2, 3}, instance.input<float>(0).begin());
  instance.run();
  EXPECT_EQ(numbers_of(instance.result<float>(0)), (Numbers{2, 4, 6}));
  EXPECT_TRUE(instance.result<float>(1).empty());
  EXPECT_EQ(numbers_of(instance.result<float>(2)), (Numbers{2, 4, 6}));
  EXPECT_EQ(numbers_of(instance.result<float>(3)), (Numbers{12}));
}

TEST(Prepared, AStepMayTakeAndGiveNothing) {
  Tensor count = Tensor::zeros({1}, DType::Int32).realize();
  auto step = capture([&] { count += 1; });
  step();
  StepInstance instance = prepare(step).instance();
  for (int i = 0; i < 5; i++) instance.run();
  EXPECT_EQ(instance.state<std::int32_t>(0)[0], 6);
  EXPECT_EQ(count.item<int>(), 1);
}

// What the step reads is copied when it is prepared.
TEST(Prepared, LaterAssignmentsToTensorsAreNotSeen) {
  Tensor scale = Tensor::full({4}, 3.f).realize();
  auto step = capture([&](const Tensor& x) { return x * scale; });
  const Tensor x = Tensor::ones({4}).realize();
  step(x);
  const PreparedStep prepared = prepare(step);
  scale.assign(Tensor::full({4}, 5.f)).realize();
  StepInstance instance = prepared.instance();
  give(instance, 0, x);
  instance.run();
  EXPECT_EQ(numbers_of(instance.result<float>(0)), Numbers(4, 3));
}

TEST(Prepared, ThreadsRunInstancesOfTheirOwn) {
  const Stream net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  step(Tensor::zeros({6}).realize());
  const PreparedStep prepared = prepare(step);
  constexpr int threads = 8, runs = 200;
  const auto last_result = [&](int seed) {
    StepInstance instance = prepared.instance();
    for (int i = 0; i < runs; i++) {
      std::ranges::fill(instance.input<float>(0), static_cast<float>(seed * i % 7) / 7);
      instance.run();
    }
    return numbers_of(instance.result<float>(0));
  };
  std::vector<Numbers> expected, found(threads);
  for (int i = 0; i < threads; i++) expected.push_back(last_result(i));
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++) {
    all.emplace_back([&, i] { found[static_cast<std::size_t>(i)] = last_result(i); });
  }
  for (std::thread& t : all) t.join();
  EXPECT_EQ(found, expected);
}

TEST(Prepared, WhatCannotBePreparedIsRefused) {
  auto step = capture([](const Tensor& x) { return x + 1.; });
  EXPECT_NE(error_of([&] { prepare(step); }).find("before its first call"), std::string::npos);
  step(Tensor::ones({2}, {.dtype = std::nullopt, .device = "INTERP"}).realize());
  EXPECT_NE(error_of([&] { prepare(step); }).find("the device INTERP cannot be prepared"),
            std::string::npos);
  auto fine = capture([](const Tensor& x) { return x + 1.; });
  fine(Tensor::ones({2}).realize());
  EXPECT_NE(error_of([&] {
              prepare(fine, {.inputs = {"a", "b"}});
            }).find("2 inputs are named"),
            std::string::npos);
  StepInstance instance = prepare(fine).instance();
  EXPECT_NE(error_of([&] { instance.input(1); }).find("no input 1"), std::string::npos);
  EXPECT_NE(error_of([&] { instance.result<std::int32_t>(0); }).find("float32, not int32"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
