// block_repeat_test.cpp -- small steps that every block of their readers runs again.
#include <algorithm>

#include "schedule/products.h"

namespace croze::test {
namespace {

constexpr std::int64_t n = 256;  // elements of a row; its products are worth two threads

UOp row(Scheduled& s) { return s.contiguous(normalised(s, s.buffer({1, n}))); }

UOp times_matrix(Scheduled& s, UOp x, std::int64_t columns = n) {
  return s.contiguous(product(s, x, s.buffer({n, columns})));
}

std::int64_t blocks_of(const Schedule& schedule) {
  return count_blocks(schedule.sequences.at(0).blocks);
}

const ScheduleBuffer* block_buffer(const Schedule& schedule) {
  const auto found =
      std::ranges::find(schedule.buffers, ScheduleBuffer::Kind::Block, &ScheduleBuffer::kind);
  return found == schedule.buffers.end() ? nullptr : &*found;
}

TEST(BlockRepeat, EachBlockOfAProductNormalisesTheRow) {
  Scheduled s;
  const Schedule schedule = s.expect_right({times_matrix(s, row(s))});
  EXPECT_EQ(schedule.launches.size(), 1u);
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_GE(blocks_of(schedule), 4);
  const ScheduleBuffer* normed = block_buffer(schedule);
  ASSERT_NE(normed, nullptr);
  EXPECT_EQ(normed->elements, n);  // whole, in each
  EXPECT_TRUE(schedule.arenas.empty());
}

// Of a small matrix blocks are few, so that each is some memory in order.
TEST(BlockRepeat, BlocksAreAsManyAsWhatTheyReadIsWorth) {
  const auto blocks = [](std::int64_t columns) {
    Scheduled s;
    const Schedule schedule = s.expect_right({times_matrix(s, row(s), columns)});
    return schedule.sequences.empty() ? 0 : blocks_of(schedule);
  };
  EXPECT_EQ(blocks(16 * n), 4 * blocks(n));
}

TEST(BlockRepeat, OneNormServesABlockOfEachProduct) {
  Scheduled s;
  const UOp x = row(s);
  const Schedule schedule = s.expect_right({times_matrix(s, x), times_matrix(s, x, 192)});
  EXPECT_EQ(schedule.launches.size(), 1u);
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.steps.size(), 3u);
  EXPECT_EQ(192 % blocks_of(schedule), 0);
}

TEST(BlockRepeat, AProductMayBeWrittenIntoACache) {
  Scheduled s;
  const UOp x = row(s), cache = s.buffer({8, n});
  const UOp written =
      s.assign(cache, s.shrink(cache, {3, 4, 0, n}), product(s, x, s.buffer({n, n})));
  const Schedule schedule = s.expect_right({times_matrix(s, x), written});
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_EQ(schedule.sequences.size(), 1u);
}

// A block would read what another one has overwritten.
TEST(BlockRepeat, WhatReadsMemoryThatAReaderOverwritesIsRunOnce) {
  Scheduled s;
  const UOp x = s.buffer({1, n});
  const UOp normed = s.contiguous(normalised(s, x));
  const Schedule schedule = s.expect_right({s.assign(x, x, product(s, normed, s.buffer({n, n})))});
  EXPECT_EQ(schedule.launches.size(), 2u);
}

TEST(BlockRepeat, WhatIsAskedForIsMadeOnce) {
  Scheduled s;
  const UOp x = row(s);
  const Schedule schedule = s.expect_right({times_matrix(s, x), x});
  EXPECT_EQ(schedule.launches.size(), 2u);
  EXPECT_EQ(block_buffer(schedule), nullptr);
}

TEST(BlockRepeat, ReadersThatWaitForEachOtherStayApart) {
  Scheduled s;
  const UOp x = row(s), first = times_matrix(s, x);
  const Schedule schedule = s.expect_right({times_matrix(s, normalised(s, first) + x)});
  EXPECT_GE(schedule.launches.size(), 2u);
}

TEST(BlockRepeat, WhatTakesLongerThanALaunchIsRunOnce) {
  Scheduled s;
  const UOp rows = s.contiguous(normalised(s, s.buffer({128, n})));
  for (const ScheduleBuffer& b : s.schedule({times_matrix(s, rows)}).buffers) {
    const bool is_whole = b.kind == ScheduleBuffer::Kind::Block && b.elements == 128 * n;
    EXPECT_FALSE(is_whole);
  }
}

}  // namespace
}  // namespace croze::test
