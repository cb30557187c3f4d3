// phases_test.cpp -- what a strided window spreads is summed by the remainders of positions.
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

class PhasesOfSpreadWindows : public testing::Test {
 protected:
  // The sum over c and k of w[c, k] * x[c, o] at the places p = o * stride + k * dilation.
  UOp spread(std::int64_t stride, std::int64_t taps, std::int64_t dilation) {
    const std::int64_t places = (count - 1) * stride + (taps - 1) * dilation + 1;
    const UOp each = s.expand(s.reshape(s.buffer({32, count}), {32, count, 1}), {32, count, taps});
    const UOp x = s.move(Op::Unwindow, each, {1, places, stride, dilation});
    const UOp w = s.expand(s.buffer({32, 1, taps}), {32, places, taps});
    return s.reshape(s.reduce(Op::Add, x * w, {0, 2}), {places});
  }

  Scheduled s;
  const std::int64_t count = 40;
};

TEST_F(PhasesOfSpreadWindows, EachRemainderIsANestOfItsOwn) {
  for (std::int64_t stride : {2, 3}) {
    const Schedule schedule = s.expect_right({spread(stride, 3, 1)});
    EXPECT_EQ(std::ssize(schedule.steps), stride);
  }
}

TEST_F(PhasesOfSpreadWindows, WhatReadsTheSumWaitsForAllOfThem) {
  const UOp sum = s.contiguous(spread(2, 3, 1));
  s.expect_right({s.flip(sum, {1}) * 2 + sum});
}

TEST_F(PhasesOfSpreadWindows, WindowsSideBySideAreOneNest) {
  EXPECT_EQ(std::ssize(s.expect_right({spread(1, 3, 2)}).steps), 1);
}

}  // namespace
}  // namespace croze::test
