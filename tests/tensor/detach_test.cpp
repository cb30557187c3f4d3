// detach() looks at the memory of its source, as in PyTorch; gradients end there.
#include "croze/run/buffers.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

Tensor leaf() { return Tensor::from_data({1., 2., 3., 4.}, {2, 2}); }

TEST(Detach, AssignmentsShowOnBothSides) {
  Tensor x = leaf(), d = x.detach();
  d[0] = 9;
  expect_numbers(x, {9, 9, 3, 4});
  x.select(1, 1) += 1;
  expect_numbers(d, {9, 10, 3, 5});
  d.detach().transpose()[1].zero_();
  expect_numbers(x, {9, 0, 3, 0});
  x.detach() = 5;
  expect_numbers(d, {5, 5, 5, 5});
}

TEST(Detach, SharesWhatIsNotInMemoryYet) {
  Tensor x = leaf() * 2, d = x.detach();
  d[1] = -1;
  expect_numbers(x, {2, 4, -1, -1});
  x[0] = 7;
  expect_numbers(d, {7, 7, -1, -1});
  d.realize();
  d.fill_(3);
  expect_numbers(x, {3, 3, 3, 3});
}

TEST(Detach, OfAViewSharesTheMemoryBelow) {
  Tensor x = leaf();
  Tensor row = x[1].detach();
  row *= 10;
  expect_numbers(x, {1, 2, 30, 40});
  x.zero_();
  expect_numbers(row, {0, 0});
}

TEST(Detach, KeepsItsSource) {
  Tensor d;
  {
    const Tensor x = leaf() + 1;
    d = x.detach();
  }
  d += 1;
  expect_numbers(d, {3, 4, 5, 6});
}

TEST(Detach, IsReadWithoutACopy) {
  const Tensor x = leaf(), d = x.detach().reshape({4});
  const std::int64_t before = memory_use().bytes;
  expect_numbers(d, {1, 2, 3, 4});
  EXPECT_EQ(memory_use().bytes, before);
  const Tensor computed = x * 2, detached = computed.detach();
  detached.realize();
  const std::int64_t once = memory_use().bytes;
  computed.realize();
  EXPECT_EQ(memory_use().bytes, once);
}

TEST(Detach, GradientsEnd) {
  const Tensor x = leaf();
  expect_numbers((x * x.detach()).sum().gradient({x})[0], {1, 2, 3, 4});
  expect_numbers(x.detach().square().sum().gradient({x})[0], {0, 0, 0, 0});
}

TEST(Detach, WhatIsAssignedThroughItHasItsGradientInTheSource) {
  const Tensor v = Tensor::from_data({5., 6.}, {2});
  Tensor x = leaf(), y = x * 2;
  Tensor d = y.detach();
  d[0] = v * 3;
  const std::vector<Tensor> gradients = y.sum().gradient({x, v});
  expect_numbers(gradients[0], {0, 0, 2, 2});
  expect_numbers(gradients[1], {3, 3});
  expect_numbers(d.sum().gradient({v})[0], {0, 0});
}

TEST(Detach, AGradientThatNeedsWhatWasOverwrittenThroughItNamesTheAssignment) {
  Tensor x = leaf();
  const Tensor loss = x.square().sum().realize();
  x.detach().fill_(1);
  x.realize();
  const std::string text = error_of([&] { loss.gradient({x}); });
  EXPECT_NE(text.find("detach_test.cpp"), std::string::npos) << text;
  EXPECT_NE(text.find("assigned to"), std::string::npos) << text;
}

TEST(Detach, PlacesWrittenByPositionLeaveTheGradientOfTheRest) {
  const Tensor x = leaf();
  for (const bool by_mask : {false, true}) {
    Tensor y = x * 2;
    Tensor d = y.detach();
    if (by_mask) {
      d.index_put_({d > 5}, 0);
    } else {
      d.index_put_({Tensor::from_data({1}, {1})}, 0);
    }
    expect_numbers(y.sum().gradient({x})[0], {2, 2, 0, 0});
  }
}

// A state that is carried on without its past does not keep what it was computed from.
TEST(Detach, AStateKeepsNothingAlive) {
  const Tensor w = Tensor::full({1 << 16}, 0.5).contiguous().realize();
  Tensor state = Tensor::ones({1 << 16}).contiguous().realize();
  const std::int64_t room = memory_use().bytes + 8 * w.numel() * std::int64_t{sizeof(float)};
  for (int i = 0; i < 60; i++) {
    state = (state * w + 1).detach();
    state.realize();
    EXPECT_LT(memory_use().bytes, room) << i;
  }
  for (int i = 0; i < 60; i++) {
    state = (state * w + 1).realize().detach();
    EXPECT_LT(memory_use().bytes, room) << i;
  }
}

}  // namespace
}  // namespace croze
