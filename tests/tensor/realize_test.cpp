// What realizing does to tensors: nothing twice, old values kept, memory given back.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "croze/base/options.h"
#include "croze/run/buffers.h"
#include "croze/run/execute.h"
#include "croze/tensor/registry.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

std::int64_t kernels() { return run_statistics().kernels; }

TEST(Realize, ComputesNothingTwice) {
  const Tensor x = Tensor::from_data({1.f, 2.f}, {2});
  const Tensor y = exp(x);
  const Tensor z = y + 1;
  y.realize();
  const std::int64_t before = kernels();
  y.realize();
  EXPECT_EQ(kernels(), before);
  const Tensor again = exp(x);
  again.realize();
  EXPECT_EQ(kernels(), before) << "the same expression of the same memory was computed again";
  z.realize();
  EXPECT_EQ(kernels(), before + 1);
}

TEST(Realize, CopiesAreTheSameTensor) {
  Tensor a = Tensor::from_data({1.f}, {1});
  const Tensor b = a;
  a.assign(5);
  expect_numbers(b, {5});
  a += 1;
  expect_numbers(b, {6});
}

// What is recorded and dropped goes, though nothing is ever computed.
TEST(Realize, IsNotNeededForTheGraphToStaySmall) {
  const Tensor x = Tensor::ones({4}).realize();
  const Tensor kept = x + 0.5;
  std::size_t most = 0;
  for (int i = 0; i < 100'000; i++) {
    const Tensor dropped = (x + i).sqrt();
    most = std::max(most, Registry::instance().graph.size());
  }
  EXPECT_LT(most, 100'000U);
  expect_numbers(kept, {1.5, 1.5, 1.5, 1.5});
}

TEST(Realize, AssignKeepsMemory) {
  Tensor a = Tensor::from_data({1.f, 2.f}, {2});
  const std::int64_t buffers = memory_use().buffers;
  const void* memory = buffer_memory(a.node()).view.memory.handle;
  for (int i = 0; i < 10; i++) {
    a.assign(a * 2);
    a.realize();
  }
  EXPECT_EQ(buffer_memory(a.node()).view.memory.handle, memory);
  EXPECT_EQ(memory_use().buffers, buffers);
  expect_numbers(a, {1024, 2048});
}

TEST(Realize, AssignIsLazyAndInOrder) {
  Tensor a = Tensor::from_data({1.f, 2.f}, {2});
  a += 1;
  a *= 10;
  a.assign(a - a.flip(0));
  expect_numbers(a, {-10, 10});
}

TEST(Realize, TensorsKeepTheValueTheyWereMadeFrom) {
  Tensor a = Tensor::from_data({1.f, 2.f}, {2});
  const Tensor doubled = a * 2, flipped = a.flip(0);
  a.assign(7);
  const Tensor after = a * 2;
  a.realize();
  expect_numbers(doubled, {2, 4});
  expect_numbers(flipped, {2, 1});
  expect_numbers(after, {14, 14});
  expect_numbers(a, {7, 7});
}

TEST(Realize, ReadingWhatDependsOnAnAssignmentPerformsItOnce) {
  Tensor a = Tensor::from_data({1.f, 2.f}, {2});
  a += 1;
  const Tensor b = a * 10;
  expect_numbers(b, {20, 30});
  expect_numbers(a, {2, 3});
  expect_numbers(a * 10, {20, 30});
}

TEST(Realize, TensorsAssignedFromEachOtherSwap) {
  Tensor a = Tensor::from_data({1.f}, {1}), b = Tensor::from_data({2.f}, {1});
  const Tensor old_a = a + 0;
  a.assign(b);
  b.assign(old_a);
  realize({a, b});
  expect_numbers(a, {2});
  expect_numbers(b, {1});
}

TEST(Realize, SharedResultsAreIndependentTensors) {
  const Tensor x = Tensor::from_data({1.f, 2.f}, {2});
  Tensor a = x + 1, b = x + 1;
  realize({a, b});
  a.assign(0);
  a.realize();
  expect_numbers(b, {2, 3});
  b.assign(5);
  expect_numbers(b, {5, 5});
  expect_numbers(a, {0, 0});
}

TEST(Realize, ConstantsThatLookAlikeGetTheirOwnMemory) {
  Tensor a = Tensor::zeros({2}), b = Tensor::zeros({2});
  realize({a, b});
  EXPECT_NE(a.node(), b.node());
  a += 1;
  expect_numbers(a, {1, 1});
  expect_numbers(b, {0, 0});
  const auto g = (a * 2 + b * 3).sum().gradient({a, b});
  expect_numbers(g[0], {2, 2});
  expect_numbers(g[1], {3, 3});
}

TEST(Realize, SeveralTogetherShareTheirWork) {
  const Tensor x = random_tensor({64, 64}, -1, 1);
  const Tensor total = x.sum(0), a = total * 2, b = total + 1;
  realize({a, b});
  expect_reference(a, 1e-5);
  expect_reference(b, 1e-5);
}

TEST(Realize, TenThousandLiveTensorsOneByOneLeaveNoGrowth) {
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f}, {3});
  const auto round = [&](float offset) {
    std::vector<Tensor> live;
    for (int i = 0; i < 10'000; i++) live.push_back(x * 2 + (offset + static_cast<float>(i % 7)));
    for (Tensor& t : live) t.realize();
    EXPECT_FLOAT_EQ(live[8].to_vector<float>()[2], 7 + offset);
  };
  round(0);
  const std::int64_t after_one = memory_use().bytes;
  for (int i = 1; i < 4; i++) round(static_cast<float>(i));
  EXPECT_LE(memory_use().bytes, 2 * after_one + (64 << 20));
}

TEST(Realize, DroppedTensorsGiveTheirMemoryBack) {
  for (int i = 0; i < 40; i++) {
    const std::vector<float> values(4 << 20, static_cast<float>(i));
    Tensor::from_data(values, {4 << 20}).narrow(0, 0, 1).contiguous().realize();
  }
  // 40 tensors of 16 MiB were made; few are still there.
  EXPECT_LT(memory_use().bytes, std::int64_t{400} << 20);
}

TEST(Realize, AViewIsReadInItsOwnOrder) {
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2});
  EXPECT_EQ(x.transpose().to_vector<float>(), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(x[1].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(x.detach().to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(x.expand({2, 2, 2}).sum(0).to_vector<float>(), (std::vector<float>{2, 4, 6, 8}));
}

TEST(Realize, MovesBetweenDevices) {
  const Tensor x = Tensor::from_data({1.f, 2.f}, {2}, {.device = "CPU"});
  const Tensor there = (x + 1).to("INTERP");
  EXPECT_EQ(there.device(), "INTERP");
  expect_numbers(there * 2, {4, 6});
  expect_numbers((there * 2).to("CPU") + x, {5, 8});
  const Tensor zeros = Tensor::zeros({2}, {.device = "INTERP"}).realize();
  EXPECT_EQ(zeros.device(), "INTERP");
  expect_numbers(zeros + there, {2, 3});
  const Tensor g = (there * there).sum().gradient({x})[0];
  EXPECT_EQ(g.device(), "CPU");
  expect_numbers(g, {4, 6});
}

TEST(Realize, MovesBetweenDevicesOfOneKind) {
  const Tensor x = Tensor::from_data({1.f, 2.f}, {2}, {.device = "INTERP:1"});
  const Tensor w = Tensor::from_data({3.f, 4.f}, {2}, {.device = "INTERP:2"});
  EXPECT_EQ(x.device(), "INTERP:1");
  EXPECT_TRUE(Tensor::ones({2}, {.device = "INTERP"}).to("INTERP:0").device() == "INTERP");
  const Tensor product = x.to("INTERP:2") * w;
  EXPECT_EQ(product.device(), "INTERP:2");
  expect_numbers(product, {3, 8});
  const std::vector<Tensor> g = product.square().sum().gradient({x, w});
  EXPECT_EQ(g[0].device(), "INTERP:1");
  EXPECT_EQ(g[1].device(), "INTERP:2");
  expect_numbers(g[0], {18, 64});  // 2 x w^2
  expect_numbers(g[1], {6, 32});   // 2 w x^2
}

TEST(Realize, ElementsAreReadWhereTheyStandIfTheHostSeesThem) {
  const auto list = [](std::span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
  Elements<float> elements;
  EXPECT_TRUE(elements.span().empty());
  Tensor x = Tensor::arange(4, {.dtype = DType::Float32}).realize();
  elements = x.elements<float>();
  const float* const first = elements.span().data();
  EXPECT_EQ(x.elements<float>().span().data(), first);
  EXPECT_EQ(list(elements.span()), (std::vector<float>{0, 1, 2, 3}));
  x.assign(5).realize();
  EXPECT_EQ(elements.span()[3], 5) << "an assignment shows";
  x = Tensor();
  const Tensor other = Tensor::full({4}, 7).realize();
  EXPECT_EQ(elements.span()[0], 5) << "memory that is held was given to another tensor";
}

TEST(Realize, ElementsAreCopiedWhereTheyDoNotStandSo) {
  const auto list = [](auto x) { return std::vector<int>(x.begin(), x.end()); };
  const Tensor x = Tensor::arange(6, {.dtype = DType::Float32}).reshape({2, 3}).realize();
  EXPECT_EQ(list(x.transpose(0, 1).elements<float>().span()), (std::vector{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(list(x.elements<std::int32_t>().span()), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(list(x.narrow(0, 1, 1).elements<float>().span()), (std::vector{3, 4, 5}));
  EXPECT_TRUE(Tensor::zeros({0, 3}).elements<float>().span().empty());
  const Options::Scope elsewhere{{Option::Device, "NULL"}};
  EXPECT_EQ(Tensor::zeros({3}).elements<float>().span().size(), 3U);
}

// And neither the plan nor the kernel of one arithmetic serves the other.
TEST(Realize, FastMathsIsOffUnlessAskedFor) {
  const auto first = [] {
    const Tensor x = Tensor::from_data({INFINITY, 2.f}, {2}).realize();  // not computed before
    return (x * 0.f).to_vector<float>()[0];
  };
  EXPECT_TRUE(std::isnan(first()));
  {
    Options::Scope fast{{Option::FastMath, 1}};
    EXPECT_EQ(first(), 0);
  }
  EXPECT_TRUE(std::isnan(first()));
}

}  // namespace
}  // namespace croze
