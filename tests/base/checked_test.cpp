// Overflow of sizes.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <vector>

namespace croze {
namespace {

TEST(Checked, SumsAndProductsThatFitAreExact) {
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(checked_add(INT64_MAX, -1), INT64_MAX - 1);
  EXPECT_EQ(checked_mul(-3, 5), -15);
}

TEST(Checked, OverflowIsAnError) {
  EXPECT_THROW(checked_mul(int64_t{1} << 32, int64_t{1} << 31), Error);
  EXPECT_THROW(checked_mul(INT64_MIN, -1), Error);
  EXPECT_THROW(checked_add(INT64_MAX, 1), Error);
}

TEST(Checked, ProductOfShapesCountsElements) {
  EXPECT_EQ(checked_product(std::vector<int64_t>{}), 1);
  EXPECT_EQ(checked_product(std::vector<int64_t>{2, 3, 4}), 24);
  EXPECT_EQ(checked_product(std::vector<int64_t>{INT64_MAX, INT64_MAX, 0}), 0);
  EXPECT_THROW(checked_product(std::vector<int64_t>{INT64_MAX, 2}), Error);
}

}  // namespace
}  // namespace croze
