// lane_form_test.cpp -- steps over the lanes, against the values that the expressions have.
#include "croze/render/lane_form.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr DType i32 = DType::Int32;

// The form of one value, which is stored so that it stands in a program.
LaneForm form_of(ProgramBuilder& b, UOp value) {
  b.emit(value);
  return LaneForms(b.finish()).of(value);
}

void expect_step(LaneForm form, std::int64_t step) {
  EXPECT_EQ(form.lanes, 8);
  EXPECT_TRUE(form.affine);
  EXPECT_EQ(form.step, step);
}

TEST(LaneForm, ScalarsHaveOneLane) {
  ProgramBuilder b("scalar");
  const UOp loop = b.begin_loop(10);
  const LaneForm form = form_of(b, loop * 3 + 1);
  EXPECT_EQ(form.lanes, 1);
  EXPECT_TRUE(form.affine);
  EXPECT_EQ(form.step, 0);
}

TEST(LaneForm, SumsAndProductsWithConstantsMoveByAConstant) {
  {
    ProgramBuilder b("a");
    const UOp lane = b.lane(8), loop = b.begin_loop(10);
    expect_step(form_of(b, loop * 8 + lane), 1);
  }
  {
    ProgramBuilder b("b");
    const UOp lane = b.lane(8), loop = b.begin_loop(10);
    expect_step(form_of(b, -((lane + loop) * 3) + 100), -3);
  }
  {
    ProgramBuilder b("c");
    const UOp lane = b.lane(8);
    const UOp shifted = b.graph().alu(Op::Shl, {lane, b.integer(4)});
    expect_step(form_of(b, shifted + lane), 17);
  }
}

TEST(LaneForm, EqualLanesHaveStepZero) {
  ProgramBuilder b("zero");
  const UOp lane = b.lane(8), loop = b.begin_loop(10);
  expect_step(form_of(b, (lane + loop) + -lane), 0);
}

TEST(LaneForm, OtherArithmeticIsNotAffine) {
  for (int kind = 0; kind < 4; kind++) {
    ProgramBuilder b("other");
    const UOp lane = b.lane(8), loop = b.begin_loop(10);
    const UOp value = kind == 0   ? lane * loop
                      : kind == 1 ? cast(lane, DType::Float32)
                      : kind == 2 ? b.graph().alu(Op::CDiv, {lane, b.integer(2)})
                                  : b.load(b.param(i32, 8), lane);
    const LaneForm form = form_of(b, value);
    EXPECT_EQ(form.lanes, 8) << kind;
    EXPECT_FALSE(form.affine) << kind;
  }
}

TEST(LaneForm, WideningKeepsStepsOnlyWhereNothingWraps) {
  for (bool wraps : {false, true}) {
    ProgramBuilder b("cast");
    const UOp lane = b.lane(8);
    const UOp start = b.load(b.param(i32, 1), b.integer(0));  // any number
    const UOp sum = lane + (wraps ? start : b.integer(5));
    EXPECT_EQ(form_of(b, cast(sum, DType::Int64)).affine, !wraps);
  }
  ProgramBuilder b("truncate");
  const UOp lane = b.lane(8);
  const UOp start = b.load(b.param(i32, 1), b.integer(0));
  expect_step(form_of(b, cast(lane + start, DType::Int16)), 1);
}

TEST(LaneForm, ANodeThatDoesNotStandInTheListIsABug) {
  ProgramBuilder b("absent");
  const UOp lane = b.lane(8);
  const UOp other = lane + 1;
  EXPECT_THROW(LaneForms(b.finish()).of(other), InternalError);
}

TEST(LaneForms, WhatDividesLaneZeroFollowsFromSums) {
  ProgramBuilder b("factors");
  const UOp i = b.special(0, 64, LoopKind::Item), lane = b.lane(4);
  EXPECT_EQ(multiple_in_first_lane(i), 1);
  EXPECT_EQ(multiple_in_first_lane(lane), 0);
  EXPECT_EQ(multiple_in_first_lane(i * 2), 2);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + lane), 8);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + lane + 4), 4);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + 3), 1);
}

}  // namespace
}  // namespace croze::test
