// recompute_test.cpp -- values that are made for rows and again for columns, and those that are
// not.
#include <algorithm>

#include "schedule/products.h"

namespace croze::test {
namespace {

// Threads share products of such sizes.
constexpr std::int64_t n = 128, d = 4;
constexpr double rounding = 1e-6;

std::int64_t largest_temporary(const Schedule& schedule) {
  std::int64_t largest = 0;
  for (const ScheduleBuffer& b : schedule.buffers) {
    if (b.kind == ScheduleBuffer::Kind::Temporary) largest = std::max(largest, b.elements);
  }
  return largest;
}

UOp turned(Scheduled& s, UOp x) { return s.move(Op::Permute, x, {1, 0}); }

// What is done to scores by rows, weighted sums of it by rows, and sums by columns.
struct Sums {
  UOp rows, columns;
};
Sums sums_of(Scheduled& s, UOp scores) {
  const UOp weights = normalised(s, scores);
  return {s.contiguous(product(s, weights, s.buffer({n, d}))),
          s.contiguous(product(s, turned(s, weights), s.buffer({n, d})))};
}

TEST(Recompute, ScoresAreMadeForRowsAndAgainForColumns) {
  Scheduled s(small_cache_caps());
  const Sums sums = sums_of(s, product(s, s.buffer({n, d}), s.buffer({d, n})));
  const Schedule schedule = s.expect_right({sums.rows, sums.columns}, rounding);
  EXPECT_EQ(schedule.sequences.size(), 2u);
  EXPECT_LE(largest_temporary(schedule), n);  // the greatest of each row
}

TEST(Recompute, WhatIsReducedOutsideIsStoredOnce) {
  Scheduled s(small_cache_caps());
  const Sums sums = sums_of(s, product(s, s.buffer({n, d}), s.buffer({d, n})));
  const Schedule schedule = s.schedule({sums.rows, sums.columns});
  const auto kept = std::ranges::count_if(schedule.buffers, [](const ScheduleBuffer& b) {
    return b.kind == ScheduleBuffer::Kind::Temporary && b.elements == n;
  });
  EXPECT_EQ(kept, 1);
}

TEST(Recompute, WhatFitsTheCachesIsMadeOnce) {
  Scheduled s;
  const Sums sums = sums_of(s, product(s, s.buffer({n, d}), s.buffer({d, n})));
  EXPECT_EQ(s.expect_right({sums.rows, sums.columns}, rounding).steps.size(), 4u);
}

// Each thread has heads of its own, whose blocks of rows add up the columns in order.
TEST(Recompute, WhatBlocksInOrderAddUpIsMadeOnce) {
  constexpr std::int64_t heads = 4, size = 32;
  Scheduled s(small_cache_caps());
  const UOp scores = product(s, s.buffer({heads, size, d}), s.buffer({heads, d, size}));
  const UOp weights = normalised(s, scores);
  const UOp rows = s.contiguous(product(s, weights, s.buffer({heads, size, d})));
  const UOp across = s.move(Op::Permute, weights, {0, 2, 1});
  const UOp columns = s.contiguous(product(s, across, s.buffer({heads, size, d})));
  const Schedule schedule = s.expect_right({rows, columns}, rounding);
  EXPECT_EQ(schedule.steps.size(), 4u);
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_GT(schedule.sequences[0].in_order, 1);
  EXPECT_EQ(largest_temporary(schedule), 0);
}

TEST(Recompute, WhatSomebodyElseWantsIsStored) {
  Scheduled s(small_cache_caps());
  const UOp scores = s.contiguous(product(s, s.buffer({n, d}), s.buffer({d, n})));
  const Sums sums = sums_of(s, scores);
  s.expect_right({sums.rows, sums.columns, scores}, rounding);
}

TEST(Recompute, WhatIsMadeOfAsMuchIsMadeOnce) {
  Scheduled s(small_cache_caps());
  const Sums sums = sums_of(s, s.buffer({n, n}) + s.buffer({n, n}));
  EXPECT_EQ(s.expect_right({sums.rows, sums.columns}, rounding).steps.size(), 3u);
}

TEST(Recompute, AnUpdateWaitsForWhatReadsTheOldStateAgain) {
  Scheduled s(small_cache_caps());
  const UOp keys = s.buffer({d, n});
  const Sums sums = sums_of(s, product(s, s.buffer({n, d}), keys));
  const UOp after = s.assign(keys, keys, turned(s, sums.columns) + keys);
  s.expect_right({sums.rows, sums.columns, after}, rounding);
}

}  // namespace
}  // namespace croze::test
