// assign_test.cpp -- assignment keeps the order of reads and writes, whatever fuses.
#include <chrono>

#include "schedule/scheduled.h"

namespace croze::test {
namespace {

TEST(Assign, ABufferAssignedItsOwnMirrorImageIsReadFirst) {
  Scheduled s;
  const UOp x = s.buffer({100});
  s.expect_right({s.assign(x, x, s.flip(x, {1}))});
}

TEST(Assign, AViewAssignedTheWholeIsReadFirst) {
  Scheduled s;
  const UOp x = s.buffer({100});
  s.expect_right({s.assign(x, s.flip(x, {1}), x)});
}

TEST(Assign, AnUpdateInPlaceNeedsNoCopy) {
  Scheduled s;
  const UOp x = s.buffer({100}), y = s.buffer({100});
  const Schedule schedule = s.expect_right({s.assign(x, x, x * 2 + y)});
  EXPECT_EQ(schedule.steps.size(), 1u);
  EXPECT_TRUE(schedule.arenas.empty());
}

// What is asked to be in memory goes to the memory that it is assigned to.
TEST(Assign, AContiguousValueIsWrittenOnce) {
  Scheduled s;
  const UOp x = s.buffer({8, 12}), y = s.buffer({8, 12});
  const UOp turned = s.contiguous(s.flip(y, {1, 0}));
  const Schedule schedule = s.expect_right({s.assign(x, x, turned)});
  EXPECT_EQ(schedule.steps.size(), 1u);
  EXPECT_TRUE(schedule.arenas.empty());
  // Of itself: read before it is overwritten.
  const UOp z = s.buffer({8, 8});
  const UOp mirrored = s.contiguous(s.flip(z, {1, 0}));
  EXPECT_EQ(s.expect_right({s.assign(z, z, mirrored)}).steps.size(), 2u);
}

TEST(Assign, DisjointPartsAreBothWritten) {
  Scheduled s;
  const UOp x = s.buffer({40}), y = s.buffer({20});
  const UOp low = s.assign(x, s.shrink(x, {0, 20}), y * 3);
  const UOp both = s.assign(low, s.shrink(low, {20, 40}), y * 5);
  const Schedule schedule = s.expect_right({both});
  EXPECT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.launches.size(), 1u);
}

TEST(Assign, PartsThatAreApartAreWrittenAtOnceByOneKernel) {
  Scheduled s;
  const UOp x = s.buffer({12, 10});
  UOp rows = x, columns = s.buffer({12, 10});
  for (int i = 0; i < 6; i++) {
    const UOp y = s.buffer({2, 10}), z = s.buffer({12, 1});
    rows = s.assign(rows, s.shrink(rows, {2 * i, 2 * i + 2, 0, 10}), y * 3);
    columns = s.assign(columns, s.shrink(columns, {0, 12, i, i + 1}), z * 3);
  }
  for (const UOp root : {rows, columns}) {
    const Schedule schedule = s.expect_right({root});
    ASSERT_EQ(schedule.steps.size(), 6U);
    EXPECT_EQ(schedule.launches.size(), 1U);
    EXPECT_TRUE(schedule.arenas.empty());
    for (const ScheduleStep& step : schedule.steps) {
      EXPECT_EQ(step.kernel, schedule.steps[0].kernel);
    }
  }
  EXPECT_EQ(work_of(s.schedule({rows})), 120);
}

// Only those that overlap wait for each other.
TEST(Assign, PartsThatOverlapAreWrittenInOrder) {
  Scheduled s;
  const UOp y = s.buffer({10});
  UOp x = s.buffer({40});
  for (int begin : {0, 20, 5, 25, 12}) {
    x = s.assign(x, s.shrink(x, {begin, begin + 10}), y * (begin + 1));
  }
  EXPECT_EQ(s.expect_right({x}).launches.size(), 3U);
}

// A row is made from the row before it, in place.
TEST(Assign, APartIsMadeFromAnotherWithoutACopy) {
  Scheduled s;
  UOp x = s.buffer({6, 10});
  for (int i = 1; i < 6; i++) {
    x = s.assign(x, s.shrink(x, {i, i + 1, 0, 10}), s.shrink(x, {i - 1, i, 0, 10}) * 2);
  }
  const Schedule schedule = s.expect_right({x});
  EXPECT_EQ(schedule.steps.size(), 5U);
  EXPECT_TRUE(schedule.arenas.empty());
}

TEST(Assign, AReaderWaitsForWhatItReadsOnly) {
  Scheduled s;
  const UOp x = s.buffer({4, 10}), y = s.buffer({1, 10});
  const UOp first = s.assign(x, s.shrink(x, {0, 1, 0, 10}), y * 3);
  const UOp old = s.contiguous(s.shrink(first, {1, 2, 0, 10}) * 2);
  const UOp second = s.assign(first, s.shrink(first, {2, 3, 0, 10}), y * 5);
  const Schedule schedule = s.expect_right({old, second});
  EXPECT_EQ(schedule.steps.size(), 3U);
  EXPECT_EQ(schedule.launches.size(), 1U);
}

// A copy of what an assignment has made reads what it left alone, too.
TEST(Assign, WhatIsCopiedWithTheAssignmentBeforeIsNotOverwrittenYet) {
  Scheduled s;
  const UOp x = s.buffer({4, 4});
  const UOp number = s.graph.constant(DType::Float32, 50.0);
  const UOp row = s.expand(s.reshape(number, {1, 1}), {1, 2});
  const UOp first = s.assign(x, s.shrink(x, {1, 2, 0, 2}), row);
  UOp later = first;
  for (int i = 1; i < 4; i++) {
    const UOp part = s.shrink(later, {i, i + 1, 0, 4});
    later = s.assign(later, part, -part);
  }
  const UOp copy = s.contiguous(first);
  s.expect_right({copy, later});
  const Schedule schedule = s.expect_right({later, copy});
  ASSERT_EQ(schedule.sequences.size(), 1U);
  EXPECT_EQ(schedule.launches[0].last, 2);  // the rest of the copied rows is turned later
}

// Rows are read when later ones have been written: nothing has to be copied for that.
TEST(Assign, RowsOfSeveralStatesAreReadTogether) {
  Scheduled s;
  UOp x = s.buffer({5, 10}), sum = s.buffer({1, 10});
  for (int i = 0; i < 5; i++) {
    const UOp y = s.buffer({1, 10});
    x = s.assign(x, s.shrink(x, {i, i + 1, 0, 10}), y * (i + 2));
    sum = sum + s.shrink(x, {i, i + 1, 0, 10});
  }
  const Schedule schedule = s.expect_right({sum, x});
  EXPECT_EQ(schedule.steps.size(), 6U);
  EXPECT_EQ(schedule.launches.size(), 2U);
  EXPECT_TRUE(schedule.arenas.empty());
}

// What is wanted of an old state is copied, and not all that stood there.
TEST(Assign, OfAnOldStateTheValueIsCopied) {
  Scheduled s;
  UOp x = s.buffer({100, 10});
  for (int i = 0; i < 3; i++) {
    const UOp low = s.shrink(x, {i, i + 1, 0, 10}), high = s.shrink(x, {9 - i, 10 - i, 0, 10});
    const UOp swapped = s.assign(x, low, high * 2);
    x = s.assign(swapped, s.shrink(swapped, {9 - i, 10 - i, 0, 10}), low * 3);
  }
  const Schedule schedule = s.expect_right({x});
  EXPECT_LE(work_of(schedule), 90);
}

// Numbers are passed to one kernel where there are many.
TEST(Assign, RowsFilledWithNumbersAreOneKernel) {
  for (const DType t :
       {DType::Float32, DType::Float64, DType::Int8, DType::Float16, DType::UInt64}) {
    Scheduled s;
    UOp x = s.buffer({9, 10}, t);
    for (int i = 0; i < 9; i++) {
      const UOp number = s.graph.constant(t, std::int64_t{3 * i});
      const UOp row = s.expand(s.reshape(number, {1, 1}), {1, 10});
      x = s.assign(x, s.shrink(x, {i, i + 1, 0, 10}), row);
    }
    const Schedule schedule = s.expect_right({x});
    ASSERT_EQ(schedule.steps.size(), 9U);
    for (const ScheduleStep& step : schedule.steps) {
      EXPECT_EQ(step.kernel, schedule.steps[0].kernel);
    }
  }
}

UOp scattered(Scheduled& s, UOp base, UOp value, UOp at, Op combine = Op::Const) {
  const UOp sources[] = {base, value, at};
  const auto arg = combine == Op::Const ? 0 : static_cast<std::int64_t>(combine);
  return s.graph.make(Op::Scatter, DType::Float32, sources, Arg(arg));
}

// Of what is put at positions only that is written.
TEST(Assign, PositionsAreWrittenInPlace) {
  for (const Op combine : {Op::Const, Op::Add}) {
    Scheduled s;
    UOp x = s.buffer({100});
    for (int i = 0; i < 3; i++) {
      const UOp at = s.buffer({8. + i, 3, 8, 200}, {4}, DType::Int32), values = s.buffer({4});
      x = s.assign(x, x, scattered(s, x, values * (i + 2), at, combine));
    }
    const Schedule schedule = s.expect_right({x});
    EXPECT_EQ(schedule.steps.size(), 3U);
    EXPECT_EQ(work_of(schedule), 12);
    EXPECT_TRUE(schedule.arenas.empty());
  }
}

TEST(Assign, PositionsInAViewAreWrittenInPlace) {
  Scheduled s;
  const UOp x = s.buffer({6, 10}), at = s.buffer({7, 0, 7}, {3}, DType::Int32);
  const UOp row = s.reshape(s.shrink(x, {2, 3, 0, 10}), {10});
  const UOp put = s.reshape(scattered(s, row, s.buffer({3}) + 50, at), {1, 10});
  const Schedule schedule = s.expect_right({s.assign(x, s.shrink(x, {2, 3, 0, 10}), put)});
  EXPECT_EQ(work_of(schedule), 3);
}

TEST(Assign, WhatIsPutAtPositionsMayBeMadeFromWhatStandsThere) {
  Scheduled s;
  const UOp x = s.buffer({50}), at = s.buffer({30, 0, 12}, {3}, DType::Int32);
  const UOp values = s.shrink(s.flip(x, {0}), {10, 13}) * 3;
  const Schedule schedule = s.expect_right({s.assign(x, x, scattered(s, x, values, at))});
  EXPECT_LE(work_of(schedule), 6);
}

TEST(Assign, WhatIsPutIntoOnePlaceTwiceIsMadeFromTheOldContents) {
  Scheduled s;
  const UOp x = s.buffer({5}, {1}, DType::Float32), at = s.buffer({0, 0, 0}, {3}, DType::Int32);
  const UOp values = s.expand(x + 4, {3});
  s.expect_right({s.assign(x, x, scattered(s, x, values, at))});
  s.expect_right({s.assign(x, x, scattered(s, x, values, at, Op::Add))});
}

TEST(Assign, WhatSomebodyElseWantsIsNotPutInPlace) {
  Scheduled s;
  const UOp x = s.buffer({50}), at = s.buffer({30, 0, 12}, {3}, DType::Int32);
  const UOp put = scattered(s, x, s.buffer({3}) * 3, at);
  s.expect_right({put, s.assign(x, x, put)});
  s.expect_right({s.assign(x, x, put), s.contiguous(x + put)});
  s.expect_right({s.assign(x, s.flip(x, {0}), put)});
}

TEST(Assign, AThousandRowsAreScheduledInNoTime) {
  Scheduled s;
  UOp x = s.buffer({1000, 4});
  for (int i = 0; i < 1000; i++) {
    const UOp y = s.buffer({1, 4});
    x = s.assign(x, s.shrink(x, {i, i + 1, 0, 4}), y * 2);
  }
  const auto start = std::chrono::steady_clock::now();
  const Schedule schedule = s.schedule({x});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(schedule.launches.size(), 1U);
  EXPECT_EQ(work_of(schedule), 4000);
}

TEST(Assign, OverlappingPartsAreWrittenInOrder) {
  Scheduled s;
  const UOp x = s.buffer({40}), y = s.buffer({25});
  const UOp first = s.assign(x, s.shrink(x, {0, 25}), y * 3);
  s.expect_right({s.assign(first, s.shrink(first, {15, 40}), y * 5)});
}

// a[i+1] = f(a[i]), four times over.
TEST(Assign, AChainOfShiftedUpdatesSeesEachStepOfItself) {
  Scheduled s;
  UOp a = s.buffer({32});
  for (int i = 0; i < 4; i++) {
    a = s.assign(a, s.shrink(a, {1, 32}), s.shrink(a, {0, 31}) + 1);
  }
  s.expect_right({a});
}

TEST(Assign, AColumnOfAMatrixTakesASumOverIt) {
  Scheduled s;
  const UOp x = s.buffer({8, 6});
  const UOp sum = s.reduce(Op::Add, x, {1});
  s.expect_right({s.assign(x, s.shrink(x, {0, 8, 2, 3}), sum)});
}

TEST(Assign, AReaderRecordedBeforeSeesTheOldContents) {
  Scheduled s;
  const UOp x = s.buffer({50});
  s.expect_right({s.reduce(Op::Add, x, {0}), s.assign(x, x, x + 1)});
}

TEST(Assign, AReaderOfOldAndNewContentsSeesBoth) {
  Scheduled s;
  const UOp x = s.buffer({50});
  const UOp after = s.assign(x, x, s.flip(x, {1}));
  s.expect_right({after, after - x});
}

TEST(Assign, AWriteThatReadsWhatAnEarlierWriteReplaced) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.buffer({50});
  const UOp first = s.assign(x, x, y + 7);
  s.expect_right({s.assign(first, s.flip(first, {1}), x * 2)});
}

TEST(Assign, TwoBuffersSwap) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.flip(s.buffer({50}), {1});
  const UOp z = s.buffer(std::vector<double>(50, 4), {50}, DType::Float32);
  s.expect_right({s.assign(x, x, z + y), s.assign(z, z, x)});
}

// The last write waits for nothing but the reader, and the reader for a value made from `x` anew.
TEST(Assign, ACircleOfBuffersIsBrokenByACopy) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.buffer({50});
  const UOp new_x = s.assign(x, x, x + 1);
  const UOp first_y = s.assign(y, y, new_x * 2);
  s.expect_right({s.flip(first_y, {1}) + 1, s.assign(first_y, first_y, x * 3), new_x});
}

// The copies must stay copies: with one of its readers it would wait for the write again.
TEST(Assign, ACopyThatBreaksACircleIsNotJoinedToItsReader) {
  Scheduled s;
  const UOp x = s.buffer({3}), values = s.buffer({2});
  const UOp at = s.buffer({2, 0}, {2}, DType::Int32);
  const UOp first = s.assign(x, x, x * 3);
  const UOp sources[] = {first, values, at};
  const UOp written =
      s.graph.make(Op::Scatter, DType::Float32, sources, Arg(static_cast<std::int64_t>(Op::Add)));
  const UOp second = s.assign(first, first, written);
  const UOp later = s.contiguous(s.flip(second, {0}) * 2);
  s.expect_right({s.contiguous(s.graph.alu(Op::Max, {later, x})), second});
}

TEST(Assign, AReaderIsBeforeTheNextWriteEvenBehindAnEmptyOne) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.buffer({50});
  const UOp none = s.buffer(std::vector<double>{}, {0}, DType::Float32);
  const UOp first = s.assign(x, x, y + 1);
  const UOp second = s.assign(first, s.shrink(first, {7, 7}), none);
  s.expect_right({s.assign(second, second, y * 5), first + y});
}

TEST(Assign, TwoStoresOfOneAssignmentReadTheOldContents) {
  Scheduled s;
  const UOp x = s.buffer({20});
  const UOp low = s.shrink(x, {0, 10}), high = s.shrink(x, {10, 20});
  const UOp effects[] = {s.graph.store(low, high), s.graph.store(high, low)};
  s.expect_right({s.graph.after(x, effects)});
}

TEST(Assign, NothingToAssignIsNothingToDo) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.buffer(std::vector<double>{}, {0}, DType::Float32);
  const Schedule schedule = s.expect_right({s.assign(x, s.shrink(x, {7, 7}), y)});
  EXPECT_TRUE(schedule.steps.empty());
}

// The first state is wanted by an assignment to the second, which is wanted later itself.
TEST(Assign, TwoOlderStatesAreEachReadAsTheyWere) {
  Scheduled s;
  const UOp x = s.buffer({6, 2}), y = s.buffer({2, 1});
  const UOp second = s.assign(x, s.shrink(x, {3, 5, 0, 1}), y * -1 - 5);
  const UOp third = s.assign(second, second, x);
  s.expect_right({second * 100 + s.reshape(third, {6, 2})});
}

// A reshape of nothing is no place in memory.
TEST(Assign, NothingOverwritesNothing) {
  Scheduled s;
  const UOp x = s.buffer({6, 2}), nothing = s.buffer({2, 0});
  const UOp empty = s.reshape(s.shrink(x, {0, 0, 0, 2}), {2, 0});
  const UOp second = s.assign(x, empty, nothing);
  s.expect_right({s.assign(second, s.shrink(second, {0, 3, 0, 2}), s.shrink(x, {3, 6, 0, 2}))});
}

// The last reader comes after all assignments, so it is no part of what makes one of them.
TEST(Assign, AReaderBehindAnEmptyOneIsNotJoinedToWhatIsAssignedBefore) {
  Scheduled s;
  const UOp x = s.buffer({8}), y = s.buffer({8}), zero = s.buffer({8});
  const UOp mean = s.expand(s.reduce(Op::Add, y, {0}), {8});
  const UOp apart = y - mean;
  const UOp first = s.assign(x, x, s.expand(s.reduce(Op::Add, apart * apart, {0}), {8}));
  const UOp second = s.assign(first, s.flip(first, {1}), zero);
  const UOp third = s.assign(second, s.shrink(second, {5, 5}), s.buffer({0}));
  s.expect_right({s.graph.alu(Op::Max, {s.flip(third, {1}), -mean})});
}

}  // namespace
}  // namespace croze::test
