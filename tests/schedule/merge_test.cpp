// merge_test.cpp -- loop nests that become one, those that must not, and which run at once.
#include "croze/graph/rewrite/rewrite.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

int stores_of(const ScheduleStep& step) { return step.kernel->sink.num_src(); }

TEST(Merge, AChannelIsMeasuredAndNormalisedInOneNest) {
  Scheduled s;
  const UOp x = s.buffer({40, 300});
  const UOp mean = s.contiguous(s.reduce(Op::Add, x, {1}));
  const UOp apart = s.graph.alu(Op::Max, {x, s.expand(s.reshape(mean, {40, 1}), {40, 300})});
  const Schedule schedule = s.expect_right({mean, s.contiguous(apart)});
  ASSERT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(stores_of(schedule.steps[0]), 2);
}

TEST(Merge, AValueThatNobodyElseWantsIsNotStored) {
  Scheduled s;
  const UOp x = s.buffer({40, 300});
  const UOp inner = s.contiguous(x * 3);
  const Schedule schedule = s.expect_right({s.contiguous(inner + 1)});
  ASSERT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(stores_of(schedule.steps[0]), 1);
  EXPECT_TRUE(schedule.arenas.empty());
}

// A division of 64-bit integers is some hundred ops on a device that has 32 bits.
TEST(Merge, LongDivisionsOnAnElementStayInNestsThatCompileFast) {
  Caps narrow = cpu_shaped_caps();
  for (DType t : {DType::Int64, DType::UInt64})
    narrow.dtypes &= ~(std::uint32_t{1} << static_cast<int>(t));
  for (const auto& [caps, nests] : {std::pair(cpu_shaped_caps(), 1u), std::pair(narrow, 3u)}) {
    Scheduled s(caps);
    const UOp d = s.buffer({50}, DType::Int64) + 1;
    UOp x = s.buffer({50}, DType::Int64);
    for (int i = 0; i < 36; i++) {
      x = x % d + 900;
      if (i % 12 == 11) x = s.contiguous(x);
    }
    EXPECT_EQ(s.schedule({x}).steps.size(), nests);
  }
}

TEST(Merge, AReaderAtAnotherPositionStaysApart) {
  Scheduled s;
  const UOp inner = s.contiguous(s.buffer({40, 40}) * 3);
  const UOp turned = s.move(Op::Permute, inner, {1, 0});
  EXPECT_EQ(
      s.expect_right({inner, s.contiguous(s.graph.alu(Op::Max, {inner, turned}))}).steps.size(),
      2u);
}

TEST(Merge, AReaderThatAlsoWaitsForAnotherReaderStaysApart) {
  Scheduled s;
  const UOp inner = s.contiguous(s.buffer({50, 40}) * 3);
  // The total waits for `inner`, and the second reader for both.
  const UOp total = s.contiguous(s.reduce(Op::Add, inner, {0, 1}));
  const UOp spread = s.expand(s.reshape(total, {1, 1}), {50, 40});
  const UOp outer = s.contiguous(s.graph.alu(Op::Max, {inner, spread}));
  s.expect_right({inner, outer});
}

// One row: nothing would be left for the second thread.
TEST(Merge, AnOuterLoopThatFeedsTooFewThreadsIsNotShared) {
  Scheduled s;
  const UOp x = s.buffer({1, 60'000});
  const UOp sum = s.contiguous(s.reduce(Op::Max, x, {1}));
  const UOp spread = s.expand(s.reshape(sum, {1, 1}), {1, 60'000});
  EXPECT_GE(s.expect_right({sum, s.contiguous(s.graph.alu(Op::Max, {x, spread}))}).steps.size(),
            2u);
}

// In the outer loops its arithmetic would have no lanes.
TEST(Merge, AProducerWithoutALoopInsideIsNotTakenIntoOuterLoops) {
  Scheduled s;
  const UOp rows = s.contiguous(s.buffer({40, 50}) * 3);
  const UOp spread = s.expand(s.reshape(rows, {40, 50, 1}), {40, 50, 64});
  const UOp sums = s.graph.alu(Op::Max, {spread, s.buffer({40, 50, 64})});
  EXPECT_EQ(s.expect_right({rows, s.contiguous(sums)}).steps.size(), 2u);
}

TEST(Merge, AProductOfMatricesStaysAlone) {
  Scheduled s;
  const UOp a = s.expand(s.buffer({64, 1, 64}), {64, 64, 64});
  const UOp b = s.expand(s.buffer({1, 64, 64}), {64, 64, 64});
  const UOp product = s.contiguous(s.reduce(Op::Add, a * b, {2}));
  const Schedule schedule = s.expect_right({product, s.contiguous(product * 3)});
  EXPECT_EQ(schedule.steps.size(), 2u);
}

// A scatter is two steps, of which the first can become one with what it reads.
TEST(Merge, AReaderOfAScatterWaitsForAllOfIt) {
  Scheduled s;
  const UOp base = s.contiguous(s.buffer({8}) * 3);
  const UOp src[] = {base, s.buffer({3}), s.buffer({6, 1, 2}, {3}, DType::Int32)};
  const UOp written = s.graph.make(Op::Scatter, DType::Float32, src, Arg(std::int64_t{0}));
  s.expect_right({s.contiguous(s.graph.alu(Op::Max, {base, written}))});
}

TEST(Merge, AnUpdateAfterAReadKeepsItsPlace) {
  Scheduled s;
  const UOp x = s.buffer({64});
  const UOp twice = s.contiguous(x * 2);
  const UOp updated = s.assign(x, x, twice + 1);
  s.expect_right({twice, s.contiguous(updated * 3), updated});
}

TEST(Launches, StepsThatWaitForNothingOfEachOtherRunAtOnce) {
  Scheduled s;
  const UOp x = s.buffer({50}), y = s.buffer({70});
  const Schedule schedule = s.expect_right({s.contiguous(x * 2), s.contiguous(y * 3)});
  EXPECT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.launches.size(), 1u);
}

TEST(Launches, EveryStepIsInOneLaunchAfterWhatItReads) {
  Scheduled s;
  std::vector<UOp> roots;
  for (int chain = 0; chain < 6; chain++) {
    UOp x = s.buffer({30, 30 + chain});
    for (int i = 0; i < 4; i++) {
      x = s.contiguous(s.move(Op::Permute, s.contiguous(x * 2), {1, 0}));
    }
    roots.push_back(x);
  }
  const Schedule schedule = s.schedule(roots);
  std::vector<int> written(schedule.buffers.size(), -1);
  int next = 0;
  for (std::size_t l = 0; l < schedule.launches.size(); l++) {
    EXPECT_EQ(schedule.launches[l].first, next);
    next = schedule.launches[l].last;
    for (int i = schedule.launches[l].first; i < next; i++) {
      const ScheduleStep& step = schedule.steps[static_cast<std::size_t>(i)];
      for (std::size_t b = 1; b < step.buffers.size(); b++) {
        EXPECT_LT(written[static_cast<std::size_t>(step.buffers[b])], static_cast<int>(l));
      }
      written[static_cast<std::size_t>(step.buffers[0])] = static_cast<int>(l);
    }
  }
  EXPECT_EQ(next, static_cast<int>(schedule.steps.size()));
  EXPECT_LT(schedule.launches.size(), schedule.steps.size());
}

// Many chains, each through a large temporary: side by side they would need all of them at once.
TEST(Launches, JoiningCostsNoMemory) {
  Scheduled s;
  std::vector<UOp> roots;
  for (int chain = 0; chain < 8; chain++) {
    const UOp wide = s.contiguous(s.expand(s.buffer({1, 512}), {512, 512}) * (chain + 2));
    roots.push_back(s.contiguous(s.reduce(Op::Max, s.move(Op::Permute, wide, {1, 0}), {0, 1})));
  }
  const Schedule schedule = s.schedule(roots);
  ASSERT_EQ(schedule.arenas.size(), 1u);
  EXPECT_LE(schedule.arenas[0].bytes, 2 * 512 * 512 * 4);
}

}  // namespace
}  // namespace croze::test
