#include "croze/base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>

namespace croze {
namespace {

int doubled(int x) { return 2 * x; }

int called(function_ref<int(int)> f, int x) { return f(x); }

TEST(FunctionRef, CallsFunctionsLambdasAndConstObjects) {
  EXPECT_EQ(called(doubled, 4), 8);
  EXPECT_EQ(called(&doubled, 4), 8);
  int calls = 0;
  auto counting = [&](int x) { return x + ++calls; };
  EXPECT_EQ(called(counting, 10), 11);
  EXPECT_EQ(called(counting, 10), 12);
  const auto constant = [](int x) { return -x; };
  EXPECT_EQ(called(constant, 3), -3);
}

TEST(FunctionRef, CopiesReferToTheSameObject) {
  int calls = 0;
  auto count = [&] { calls++; };
  const function_ref<void()> first = count;
  const function_ref<void()> second = first;
  first();
  second();
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, ForwardsArgumentsThatOnlyMove) {
  auto take = [](std::unique_ptr<int> p) { return *p; };
  const function_ref<int(std::unique_ptr<int>)> f = take;
  EXPECT_EQ(f(std::make_unique<int>(7)), 7);
}

TEST(FunctionRef, RefersToNothingByDefault) {
  const function_ref<void()> none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(static_cast<bool>(function_ref<int(int)>(doubled)));
}

}  // namespace
}  // namespace croze
