// lane_form_test.cpp -- steps over the lanes, against the values that the expressions have.
#include "croze/render/lane_form.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

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

// As the low halves of bytes and the high ones are read from one place.
TEST(LaneForm, LowBitsOfWhatMovesComeAgain) {
  const auto form_of_bits = [](std::int64_t step, std::int64_t bits, bool with_periods) {
    ProgramBuilder b("again");
    const UOp lane = b.lane(8), loop = b.begin_loop(10);
    const UOp moved = loop * 32 + lane * step;
    const UOp value = b.graph().alu(Op::And, {moved, b.integer(bits)}) * 3 + 100;
    b.emit(value);
    return LaneForms(b.finish(), with_periods).of(value);
  };
  for (const auto& [step, bits, period] :
       {std::array<std::int64_t, 3>{1, 3, 4}, {1, 1, 2}, {4, 15, 4}, {2, 7, 4}}) {
    const LaneForm form = form_of_bits(step, bits, true);
    expect_step(form, 3 * step);
    EXPECT_EQ(form.period, period) << step << " & " << bits;
    EXPECT_FALSE(form_of_bits(step, bits, false).affine);
  }
  EXPECT_FALSE(form_of_bits(3, 7, true).affine);  // not by a power of two
  EXPECT_FALSE(form_of_bits(1, 5, true).affine);  // no low bits
}

TEST(LaneForm, WhatBeginsInTheMiddleOrComesAgainInTwoWaysIsNotAffine) {
  const auto form_of_sum = [](std::int64_t first, std::int64_t bits) {
    ProgramBuilder b("apart");
    const UOp lane = b.lane(8);
    const UOp low = b.graph().alu(Op::And, {lane + first, b.integer(3)});
    const UOp sum = low + b.graph().alu(Op::And, {lane, b.integer(bits)});
    b.emit(sum);
    return LaneForms(b.finish(), true).of(sum);
  };
  expect_step(form_of_sum(4, 3), 2);
  EXPECT_FALSE(form_of_sum(1, 3).affine);
  EXPECT_FALSE(form_of_sum(4, 1).affine);
}

// As rows of a few bytes each are read side by side.
TEST(LaneForm, HighBitsOfWhatMovesAreTheSameInRunsOfLanes) {
  ProgramBuilder b("runs");
  const UOp lane = b.lane(8), loop = b.begin_loop(10);
  const auto high = [&](UOp u, std::int64_t bits) {
    return b.graph().alu(Op::Shr, {u, b.integer(bits)});
  };
  const auto low = [&](UOp u, std::int64_t mask) {
    return b.graph().alu(Op::And, {u, b.integer(mask)});
  };
  const UOp moved = loop * 8 + lane, run = high(moved, 2);
  const UOp place = run * 100 + low(moved, 3) * 2 + lane + loop, other = run + low(moved, 1);
  const std::vector<std::int64_t> numbers =
      numbers_of_lanes(high(lane, 2) * 100 + low(lane, 3) * 2 + lane);
  for (UOp u : {run, place, other}) b.emit(u);
  const LinearProgram program = b.finish();
  const LaneForms forms(program, true);
  expect_step(forms.of(run), 0);
  EXPECT_EQ(forms.of(run).period, 4);
  EXPECT_EQ(forms.of(run).jump, 1);
  EXPECT_FALSE(forms.of(run).is_uniform());
  expect_step(forms.of(place), 3);
  EXPECT_EQ(forms.of(place).jump, 104);
  for (std::int64_t k = 0; k < 8; k++)
    EXPECT_EQ(forms.of(place).offset(k), numbers[static_cast<std::size_t>(k)]) << k;
  EXPECT_FALSE(forms.of(other).affine);             // runs of four, and of two
  EXPECT_FALSE(LaneForms(program).of(run).affine);  // not asked for
}

TEST(LaneForm, WhatIsNotAffineHasNoPeriod) {
  ProgramBuilder b("turned");
  const UOp low = b.graph().alu(Op::And, {b.lane(8), b.integer(3)});
  const UOp turned = b.graph().alu(Op::Xor, {low, b.integer(1)});
  b.emit(turned);
  const LaneForm form = LaneForms(b.finish(), true).of(turned);
  EXPECT_FALSE(form.affine);
  EXPECT_EQ(form.period, 0);
}

TEST(LaneForms, NumbersOfLanesAreThoseThatTheLaneAloneSays) {
  ProgramBuilder b("numbers");
  const UOp lane = b.lane(4), loop = b.begin_loop(10);
  EXPECT_EQ(numbers_of_lanes(b.graph().alu(Op::And, {lane * 3, b.integer(5)})),
            (std::vector<std::int64_t>{0, 1, 4, 1}));
  EXPECT_TRUE(numbers_of_lanes(lane + loop).empty());
  EXPECT_TRUE(numbers_of_lanes(loop).empty());
  EXPECT_TRUE(numbers_of_lanes(b.load(b.param(i32, 4), lane)).empty());
}

TEST(LaneForms, WhatDividesLaneZeroFollowsFromSums) {
  ProgramBuilder b("factors");
  const UOp i = b.special(0, 64, LoopKind::Item), lane = b.lane(4);
  EXPECT_EQ(multiple_in_first_lane(i), 1);
  EXPECT_EQ(multiple_in_first_lane(lane), 0);
  EXPECT_EQ(multiple_in_first_lane(lane * 4), 0);
  EXPECT_EQ(multiple_in_first_lane(i * 2), 2);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + lane), 8);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + lane + 4), 4);
  EXPECT_EQ(multiple_in_first_lane(i * 8 + 3), 1);
}

}  // namespace
}  // namespace croze::test
