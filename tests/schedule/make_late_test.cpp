// make_late_test.cpp -- steps that read no temporary wait, and nobody gets ahead of them.
#include "croze/schedule/memory/make_late.h"

#include <gtest/gtest.h>

#include "schedule/written_steps.h"

namespace croze {
namespace {

// Three layers, whose weights are all decoded first.
TEST(MakeLate, WeightsAreDecodedWhereTheyAreUsed) {
  WrittenSteps s;
  const int first = s.add(large, {}), second = s.add(large, {}), third = s.add(large, {});
  int x = s.add(small, {}, ScheduleBuffer::Kind::Output);
  for (int weights : {first, second, third}) x = s.add(small, {x, weights});
  EXPECT_EQ(s.most_bytes(s.order), (3 * large + small) * 4);
  const StepOrder late = make_late(s.order, s.schedule);
  EXPECT_EQ(written(late), (std::vector<int>{3, 0, 4, 1, 5, 2, 6}));
  EXPECT_EQ(s.most_bytes(late), (large + 2 * small) * 4);
}

TEST(MakeLate, WhatReadsATemporaryStays) {
  WrittenSteps s;
  const int x = s.add(small, {});
  const int wide = s.add(large, {x}), other = s.add(small, {x});
  s.add(small, {other, wide}, ScheduleBuffer::Kind::Output);
  EXPECT_EQ(written(make_late(s.order, s.schedule)), written(s.order));
}

// The first who wants it is not the first in the order: that one waits itself.
TEST(MakeLate, AStepComesBeforeAllThatWaitForItWhereverTheyGo) {
  WrittenSteps s;
  const int a = s.add(large, {});
  const int later = s.add(large, {});  // waits for a, without reading what it makes
  s.order.waits_for[static_cast<std::size_t>(later)] = {a};
  const int reader = s.add(small, {a});
  s.add(small, {reader, later}, ScheduleBuffer::Kind::Output);
  EXPECT_EQ(written(make_late(s.order, s.schedule)), (std::vector<int>{0, 2, 1, 3}));
}

TEST(MakeLate, StepsWaitForTheSameAsBeforeAndNoMoreIsAlive) {
  int moved = 0;
  for (std::uint32_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    WrittenSteps s = random_steps(seed);
    const StepOrder late = make_late(s.order, s.schedule);
    EXPECT_LE(s.most_bytes(late), s.most_bytes(s.order));
    moved += written(late) != written(s.order);
    s.expect_same_waits(late);
  }
  EXPECT_GT(moved, 50);
}

}  // namespace
}  // namespace croze
