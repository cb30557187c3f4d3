// sums_of_products_test.cpp -- sums of many products are products of stacks.
#include <algorithm>
#include <vector>

#include "schedule/scheduled.h"

namespace croze::test {
namespace {

class SumsOfManyProducts : public testing::Test {
 protected:
  // The sum over n of a[n, i] * b[n, j] for so many pairs of tensors, added up.
  UOp sum_of(int count, bool with_zeros = false) {
    UOp sum;
    for (int t = 0; t < count; t++) {
      const UOp a = s.expand(s.buffer({8, 24, 1}) + t, all);
      const UOp first = s.expand(s.graph.constant(DType::Float32, 0.0), all);
      const UOp b = with_zeros && t == 0 ? first : s.expand(s.buffer({8, 1, 32}), all);
      sum = sum ? sum + (t % 2 ? b * a : a * b) : a * b;
    }
    return s.reduce(Op::Add, sum, {0});
  }

  std::int64_t largest_buffer(const Schedule& schedule) {
    std::int64_t most = 0;
    for (const ScheduleBuffer& b : schedule.buffers) most = std::max(most, b.elements);
    return most;
  }

  Scheduled s;
  const std::vector<std::int64_t> all{8, 24, 32};
};

TEST_F(SumsOfManyProducts, NoProductIsWrittenDown) {
  for (int count : {9, 16, 17, 40}) {
    EXPECT_LT(largest_buffer(s.expect_right({sum_of(count)})), 8 * 24 * 32) << count;
  }
}

TEST_F(SumsOfManyProducts, AFactorMayBeANumber) { s.expect_right({sum_of(20, true)}); }

TEST_F(SumsOfManyProducts, OneThatIsWantedElsewhereStays) {
  const UOp sum = sum_of(12).src(0);
  s.expect_right({s.reduce(Op::Add, sum, {0}), s.reduce(Op::Max, sum, {1})});
}

}  // namespace
}  // namespace croze::test
